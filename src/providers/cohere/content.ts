import { isObject, type JsonObject, tryParseJson } from '../../wire/json/parse.ts'
import {
  type ContentRules,
  createProviderContent,
  type PastBlock,
  type ProviderContent,
} from '../canonical/provider-content.ts'

/*
 * The vendor's message has four members with content. Its blocks are their items, in this order: texts and
 * thoughts of `content`, `{"tool_plan": …}`, the calls, and the citations.
 */

/** How the blocks of an assistant message are read when a client returns them. */
export const contentRules: ContentRules = {
  family: 'cohere',
  findFault,
  readText: ({ type, text }) => (type === 'text' ? String(text) : ''),
  readCall({ type, function: called }) {
    if (type !== 'function' || !isObject(called)) return undefined
    return { name: called['name'], input: parseArguments(called['arguments']) }
  },
}

function findFault(block: JsonObject): string | undefined {
  const { type, text, thinking, function: called, tool_plan: plan } = block
  switch (type) {
    case 'text':
      return typeof text === 'string' ? undefined : 'must have a text'
    case 'thinking':
      return typeof thinking === 'string' ? undefined : 'must have its thinking'
    case 'function':
      return isObject(called) && typeof called['name'] === 'string' ? undefined : 'must have a name'
    default:
      return isContent(block) || typeof plan === 'string' || isCitation(block)
        ? undefined
        : 'must be a text, a thought, a plan, a call or a citation'
  }
}

/** True for an item of `content`, of a new type too: the vendor judges what it has sent itself. */
function isContent(block: JsonObject): boolean {
  return typeof block['type'] === 'string' && block['type'] !== 'function' && !isCitation(block)
}

function isCitation({ start, end }: JsonObject): boolean {
  return typeof start === 'number' && typeof end === 'number'
}

/** Returns the arguments in the form in which other APIs get them. */
function parseArguments(given: unknown): unknown {
  const text = typeof given === 'string' ? given : ''
  if (text.trim() === '') return {}
  const value = tryParseJson(text)
  return value === null ? {} : isObject(value) ? value : { rawInvalidInput: text }
}

/** The contents of an answer as JSON texts. */
export interface AnswerContent {
  /** Texts and thoughts. */
  readonly parts: readonly string[]
  readonly plan: string
  readonly calls: readonly string[]
  readonly citations: readonly string[]
}

/** What decides whether an answer is carried. */
export interface ContentCounts {
  readonly texts: number
  readonly thoughts: number
  readonly hasPlan: boolean
  readonly calls: number
  readonly citations: number
}

/**
 * Returns the blocks of an answer for its message, unless a message of the OpenAI API brings them back
 * unchanged, or the vendor refuses them: it takes no text beside calls.
 */
export function carryContent(
  { texts, thoughts, hasPlan, calls, citations }: ContentCounts,
  read: () => AnswerContent,
): ProviderContent | undefined {
  const isPlain = thoughts + citations === 0 && !hasPlan
  if (isPlain || (texts > 0 && calls > 0)) return undefined
  const content = read()
  const plan = content.plan === '' ? [] : [JSON.stringify({ tool_plan: content.plan })]
  return createProviderContent('cohere', [
    ...content.parts,
    ...plan,
    ...content.calls,
    ...content.citations,
  ])
}

/** Returns a call as it was, under the id that the message has. Empty arguments are those of `{}`. */
function toOwnCall({ members, block, call }: PastBlock): object | undefined {
  if (!call) return undefined
  const { function: called } = block
  const isBare = isObject(called) && isEmptyArguments(called['arguments'])
  return { ...members, id: call.id, ...(isBare && { function: { ...called, arguments: '{}' } }) }
}

/** True for the arguments of a function without parameters, which clients get as `{}`. */
export function isEmptyArguments(given: unknown): boolean {
  const text = typeof given === 'string' ? given.trim() : ''
  return text === '' || text === 'null'
}

/** Puts the blocks of an earlier answer back into the members of the vendor's message. */
export function toOwnMessage(own: readonly PastBlock[]): object {
  const content = own.filter(({ block }) => isContent(block))
  const plan = own.map(({ block }) => block['tool_plan']).filter((text) => typeof text === 'string')
  const calls = own.flatMap((past) => toOwnCall(past) ?? [])
  const citations = own.filter(({ block }) => isCitation(block))
  return {
    role: 'assistant',
    ...(content.length > 0 && { content: content.map(({ members }) => members) }),
    ...(plan.length > 0 && { tool_plan: plan.join('') }),
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(citations.length > 0 && { citations: citations.map(({ members }) => members) }),
  }
}
