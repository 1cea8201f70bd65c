import { isObject, type JsonObject } from '../../wire/json/parse.ts'
import { RawJson, stringifyJson } from '../../wire/json/raw.ts'
import {
  type ContentRules,
  createProviderContent,
  type ProviderContent,
  readBlockTexts,
  selectBlocks,
} from '../canonical/provider-content.ts'
import type { GeminiPart } from './response.ts'

/** How the parts of an assistant message are read when a client returns them. */
export const contentRules: ContentRules = {
  family: 'google',
  findFault,
  readText: ({ text, thought }) => (typeof text === 'string' && thought !== true ? text : ''),
  readCall({ functionCall: call, thought }) {
    if (!isObject(call) || thought === true) return undefined
    return { name: call['name'], input: call['args'] }
  },
}

/** The service checks the rest of a part, as it checks any other input of a client. */
function findFault(part: JsonObject): string | undefined {
  const { text, functionCall: call } = part
  if ('functionResponse' in part) return 'must be a part of an answer, not functionResponse'
  if ('text' in part && typeof text !== 'string') return 'must have a text'
  if (!('functionCall' in part)) return undefined
  const isCall = isObject(call) && typeof call['name'] === 'string'
  const { args = {} } = isCall ? call : {}
  return isCall && isObject(args) ? undefined : 'must have a name and args'
}

/** Writes a call from its pieces. */
export function writeCall(
  { functionCall: call, thoughtSignature }: GeminiPart,
  args: string,
): string {
  const { id, name } = call ?? {}
  return stringifyJson({
    functionCall: { ...(id && { id }), name: name ?? '', args: new RawJson(args) },
    ...(thoughtSignature && { thoughtSignature }),
  })
}

/** True for a part that has only a text and perhaps the mark of a thought. */
export function isPlainText(part: GeminiPart): boolean {
  for (const name in part) {
    if (name !== 'text' && name !== 'thought' && part[name] !== undefined) return false
  }
  return true
}

/**
 * Returns the parts of an answer for its message, unless a message of the OpenAI API brings them back
 * unchanged. Media are not sent twice if the members of the message for them do. `readJson` returns a part
 * as JSON text, with its numbers as the service wrote them.
 */
export function carryContent(
  parts: readonly GeminiPart[],
  readJson: (index: number) => string,
): ProviderContent | undefined {
  if (isPlain(parts) && !parts.some(isSigned)) return undefined
  const placed = selectBlocks(parts, (part) => !isEmpty(part) && !isDraft(part))
  const returned = placed.map(({ block }) => block)
  const hasMedia = returned.some(({ inlineData }) => inlineData)
  if ((hasMedia || !returned.some(isSigned)) && isPlain(returned)) return undefined
  return createProviderContent('google', readBlockTexts(placed, readJson), {
    isProvenOtherwise: isPlain(returned.slice(countLeading(returned))),
  })
}

function isSigned({ thoughtSignature }: GeminiPart): boolean {
  return Boolean(thoughtSignature)
}

/**
 * True for texts, then media, then calls, without anything that a message has no place for. A message joins its
 * texts, which Google allows for those that are not signed.
 * https://ai.google.dev/gemini-api/docs/thought-signatures
 */
function isPlain(parts: readonly GeminiPart[]): boolean {
  let last = -1
  let isLastSigned = false
  for (const part of parts) {
    const own = rank(part)
    if (own === undefined || own < last) return false
    if (own === 0 && last === 0 && (isLastSigned || isSigned(part))) return false
    last = own
    isLastSigned = isSigned(part)
  }
  return true
}

/** Counts the thoughts with nothing else before them. Without signatures they prove nothing. */
function countLeading(parts: readonly GeminiPart[]): number {
  const end = parts.findIndex((part) => !part.thought || !isPlainText(part))
  return end < 0 ? parts.length : end
}

/** Several models refuse a part without data. */
function isEmpty(part: GeminiPart): boolean {
  return !part.text && isPlainText(part)
}

/** Image models think in drafts, which are large and no part of the answer. */
function isDraft({ thought, inlineData }: GeminiPart): boolean {
  return thought === true && Boolean(inlineData)
}

/** The members that a message has a place for. */
const known: ReadonlySet<string> = new Set([
  'text',
  'thought',
  'thoughtSignature',
  'functionCall',
  'inlineData',
])

/** Returns the place of a part in what comes back of a message; undefined if it does not come back. */
function rank(part: GeminiPart): number | undefined {
  const { text, thought, functionCall, inlineData, thoughtSignature } = part
  if (thought) return undefined
  for (const name in part) if (!known.has(name) && part[name] !== undefined) return undefined
  if (functionCall) return 3
  if (inlineData?.mimeType?.startsWith('image/')) return 2
  if (inlineData?.mimeType?.startsWith('audio/')) return thoughtSignature ? undefined : 1
  return text ? 0 : undefined
}
