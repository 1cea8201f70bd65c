import { mapInSteps, type Steps } from '../../core/steps.ts'
import { isObject } from '../../wire/json/parse.ts'
import { type CanonicalMessage, joinText, listParts } from '../canonical/messages.ts'
import type { PastCall } from '../canonical/past-call.ts'
import { placeholderText } from '../canonical/placeholder.ts'
import { type PastBlock, readProviderContent } from '../canonical/provider-content.ts'
import { contentRules } from './content.ts'
import { type RequestPart, toContentPart, toContentParts, toImageParts } from './media.ts'
import type { GeminiModel } from './models.ts'
import { readSignature } from './signatures.ts'

/** The fields of a Gemini request that hold the conversation. */
export interface GeminiConversation {
  readonly contents: readonly GeminiContent[]
  readonly systemInstruction?: { readonly parts: readonly RequestPart[] }
}

interface GeminiContent {
  readonly role: 'user' | 'model'
  readonly parts: readonly RequestPart[]
}

export interface ConversationOptions {
  readonly model: GeminiModel
  /** Media type of a referenced file without a known extension. Undefined sends no type. */
  readonly defaultMimeType?: string | undefined
}

type NonSystemMessage = Exclude<CanonicalMessage, { role: 'system' }>
type ToolMessage = Extract<CanonicalMessage, { role: 'tool' }>

/**
 * Translates the messages. System and developer messages in any position become the system
 * instruction. Where nothing else is left, they are the user's content: `contents` must not be empty, and several
 * models refuse an empty text.
 */
export function* toGeminiContents(
  messages: readonly CanonicalMessage[],
  options: ConversationOptions,
): Steps<GeminiConversation> {
  const system = messages
    .filter(({ role }) => role === 'system')
    .flatMap((message) => toContentParts(message))
  const nonSystem = messages.filter(
    (message): message is NonSystemMessage => message.role !== 'system',
  )
  yield
  const turns = yield* toTurns(sortByCallOrder(nonSystem), options)
  yield
  const merged = mergeTurns(turns)
  yield
  if (merged.length === 0) return { contents: [toUserContent(system)] }
  const contents = signFirstCalls(openWithUser(merged), options.model)
  if (system.length === 0) return { contents }
  if (!options.model.takesSystemInstruction) return { contents: prependPreamble(contents, system) }
  return { contents, systemInstruction: { parts: system } }
}

function toUserContent(parts: readonly RequestPart[]): GeminiContent {
  return { role: 'user', parts: parts.length > 0 ? parts : [{ text: placeholderText }] }
}

/**
 * Puts a user's content before a call that opens the conversation: "function call turn comes immediately after a
 * user turn". https://github.com/google-gemini/gemini-cli/issues/11814
 */
function openWithUser(contents: readonly GeminiContent[]): readonly GeminiContent[] {
  const [first] = contents
  const opensWithCall = first?.role === 'model' && first.parts.some((part) => part.functionCall)
  return opensWithCall ? [toUserContent([]), ...contents] : contents
}

/**
 * Sorts each run of tool messages by the order of the calls that they answer. Models without call
 * ids pair calls and results by position.
 */
function sortByCallOrder(messages: readonly NonSystemMessage[]): NonSystemMessage[] {
  let order = new Map<string, number>()
  let runStart = 0
  const ranked = messages.map((message, index) => {
    if (message.role === 'tool') {
      return { message, run: runStart, rank: order.get(message.callId) ?? order.size }
    }
    runStart = index
    if (message.role === 'assistant') {
      order = new Map(message.calls.map(({ id }, position) => [id, position]))
    }
    return { message, run: runStart, rank: -1 }
  })
  return ranked.sort((a, b) => a.run - b.run || a.rank - b.rank).map(({ message }) => message)
}

interface Turn {
  /** Tool results have the role `user`, but must not share a content with the user's own parts. */
  readonly speaker: 'user' | 'model' | 'tools'
  readonly parts: readonly RequestPart[]
}

function toTurns(
  messages: readonly NonSystemMessage[],
  options: ConversationOptions,
): Steps<Turn[]> {
  const names = new Map<string, string>()
  const resultOptions = { ...options, names }
  return mapInSteps(messages, (message): Turn => {
    switch (message.role) {
      case 'user':
        return { speaker: 'user', parts: toContentParts(message, options.defaultMimeType) }
      case 'assistant': {
        // Some clients restart call ids in every turn: a result belongs to the latest call.
        for (const { id, name } of message.calls) names.set(id, name)
        const own = readProviderContent(message, contentRules)
        if (own) return { speaker: 'model', parts: own.map((past) => toOwnPart(past, options)) }
        const texts = toContentParts(message, options.defaultMimeType)
        const images = toImageParts(message.raw, message.path)
        const calls = message.calls.map((call) => toCallPart(call, options))
        const parts = [...signLastText(texts, readSignature(message.raw)), ...images, ...calls]
        return { speaker: 'model', parts }
      }
      case 'tool':
        return { speaker: 'tools', parts: [toResultPart(message, resultOptions)] }
      default:
        return message satisfies never
    }
  })
}

/** Puts the signature of a text on its last part. */
function signLastText(
  parts: readonly RequestPart[],
  thoughtSignature: string | undefined,
): readonly RequestPart[] {
  const last = parts.findLastIndex(({ text }) => text !== undefined)
  if (thoughtSignature === undefined || last < 0) return parts
  return parts.with(last, { ...parts[last], thoughtSignature })
}

/** Merges adjacent turns of one speaker: older models require alternating roles. */
function mergeTurns(turns: readonly Turn[]): GeminiContent[] {
  const merged: { readonly speaker: Turn['speaker']; readonly parts: RequestPart[] }[] = []
  for (const { speaker, parts } of turns) {
    if (parts.length === 0) continue
    if (merged.at(-1)?.speaker !== speaker) merged.push({ speaker, parts: [] })
    for (const part of parts) merged.at(-1)?.parts.push(part)
  }
  return merged.map(({ speaker, parts }) => ({
    role: speaker === 'model' ? 'model' : 'user',
    parts,
  }))
}

/**
 * Google's documented placeholder for a missing thought signature: a client lost it, or the call
 * comes from another vendor's model. It is sent literally, because Vertex AI refuses its base64
 * form. https://ai.google.dev/gemini-api/docs/thought-signatures
 */
const signaturePlaceholder = 'skip_thought_signature_validator'

/**
 * Adds the placeholder to first calls without a signature. Parallel calls share that of the first.
 */
function signFirstCalls(
  contents: readonly GeminiContent[],
  { needsSignatures }: GeminiModel,
): readonly GeminiContent[] {
  if (!needsSignatures) return contents
  return contents.map((content) => {
    const first = content.parts.find(({ functionCall }) => functionCall !== undefined)
    if (!first || first.thoughtSignature !== undefined) return content
    const signedPart = { ...first, thoughtSignature: signaturePlaceholder }
    return { ...content, parts: content.parts.map((part) => (part === first ? signedPart : part)) }
  })
}

/** Puts the instructions before the first user content, for models without a system instruction. */
function prependPreamble(
  contents: readonly GeminiContent[],
  system: readonly RequestPart[],
): readonly GeminiContent[] {
  const preamble = { text: `${system.map(({ text }) => text).join('\n\n')}\n\n` }
  const first = contents.find(({ role }) => role === 'user')
  if (!first) return [{ role: 'user', parts: [preamble] }, ...contents]
  const extended: GeminiContent = { role: 'user', parts: [preamble, ...first.parts] }
  return contents.map((content) => (content === first ? extended : content))
}

function toCallPart(call: PastCall, { model }: ConversationOptions): RequestPart {
  const { id, name } = call
  const thoughtSignature = readSignature(call.raw)
  return {
    functionCall: { ...(model.takesCallIds && { id }), name, args: call.object },
    ...(thoughtSignature !== undefined && { thoughtSignature }),
  }
}

/** Returns a part of an earlier answer as it was, with its call as the message has it. */
function toOwnPart(
  { members, block, call }: PastBlock,
  { model }: ConversationOptions,
): RequestPart {
  if (!call) return members
  const { id: _, ...own } = isObject(block['functionCall']) ? block['functionCall'] : {}
  const functionCall = { ...(model.takesCallIds && { id: call.id }), ...own, args: call.object }
  return { ...members, functionCall }
}

function toResultPart(
  message: ToolMessage,
  options: ConversationOptions & { readonly names: ReadonlyMap<string, string> },
): RequestPart {
  const media = listParts(message).filter(({ type }) => type !== 'text')
  return {
    functionResponse: {
      ...(options.model.takesCallIds && { id: message.callId }),
      name: options.names.get(message.callId) ?? message.name,
      // The API reads `output` as the result, and `error` as that of a call that failed. `response`
      // must be an object, not a list or number.
      response: { [message.isError ? 'error' : 'output']: joinText(message) },
      ...(media.length > 0 && {
        parts: media.map((part) => toContentPart(part, options.defaultMimeType)),
      }),
    },
  }
}
