import type { ChatMessage, ContentPart } from '../../core/chat.ts'
import { type Steps } from '../../core/steps.ts'
import { UntranslatableError } from '../../core/untranslatable-error.ts'
import type { MadeMessage } from '../made-message.ts'
import { addPastReasoning, addProofs } from '../proofs.ts'
import type { RequestProofs } from '../request-proofs.ts'
import { fitResults } from '../tool-results.ts'
import type { ChatTarget } from '../translated-link.ts'
import { toFilePart, toResultText } from './chat-parts.ts'
import {
  type GeminiContent,
  type GeminiPart,
  type GeminiRequest,
  listContents,
  listParts,
} from './schema.ts'
import { isOwnSignature } from './signatures.ts'

export interface ConversationOptions {
  readonly target: ChatTarget
  readonly proofs: RequestProofs
  /** Returns the exact JSON text of the value at a path; undefined when it is absent. */
  readonly readText: (path: string) => string | undefined
}

/** How many parts are written at once: less than a millisecond's work. */
const partsAtOnce = 64

function isStep(at: number): boolean {
  return at % partsAtOnce === partsAtOnce - 1
}

interface PlacedPart {
  readonly part: GeminiPart
  readonly path: string
}

/** Neighbouring contents of one role: clients send the pieces of a stream back one by one. */
interface Turn {
  readonly isModel: boolean
  readonly path: string
  readonly parts: PlacedPart[]
}

/**
 * Writes the conversation as chat messages. Results without an id belong to the calls of their name that have
 * none yet, in order. Throws `UntranslatableError` for a result that belongs to no call.
 */
export function* toChatMessages(
  request: GeminiRequest,
  options: ConversationOptions,
): Steps<readonly MadeMessage[]> {
  const calls = new OpenCalls()
  const turns: (readonly MadeMessage[])[] = []
  for (const turn of listTurns(listContents(request))) {
    const written = turn.isModel
      ? yield* toAssistant(turn, calls, options)
      : yield* toUser(turn, calls, options)
    turns.push(written)
    yield
  }
  return fitResults([...toSystem(request), ...turns.flat()], options.target)
}

function listTurns(contents: readonly GeminiContent[]): readonly Turn[] {
  const turns: Turn[] = []
  for (const [index, content] of contents.entries()) {
    const isModel = content.role === 'model'
    const path = `contents.${index}`
    const parts = listParts(content).map((part, at) => ({ part, path: `${path}.parts.${at}` }))
    const last = turns.at(-1)
    if (last?.isModel !== isModel) turns.push({ isModel, path, parts })
    // One by one: a list of arguments this long could overflow the stack.
    else for (const part of parts) last.parts.push(part)
  }
  return turns
}

function toSystem({ systemInstruction: given }: GeminiRequest): readonly MadeMessage[] {
  if (given === undefined || given === null) return []
  const path = 'systemInstruction'
  const parts = typeof given === 'string' ? [{ text: given }] : listParts(given)
  const texts = parts.map((part, at) => {
    const isText = typeof part.text === 'string' && !part.inlineData && !part.fileData
    if (isText || Object.keys(part).length === 0) return part.text ?? ''
    const place = `${path}.parts.${at}`
    throw new UntranslatableError(`${place}: a system instruction holds only text`, place)
  })
  const text = texts.filter(Boolean).join('\n\n')
  if (text === '') return []
  const message: ChatMessage = { role: 'system', content: text }
  return [{ message, path, parts: [path], calls: [] }]
}

interface OpenCall {
  readonly id: string
  isAnswered: boolean
}

/** Calls in their order, by a name or an id that several may have. */
class CallIndex {
  readonly #calls = new Map<string, { readonly list: OpenCall[]; next: number }>()

  add(key: string, call: OpenCall): void {
    const known = this.#calls.get(key)
    if (known) known.list.push(call)
    else this.#calls.set(key, { list: [call], next: 0 })
  }

  /** Returns the first call that has no result yet. */
  find(key: string): OpenCall | undefined {
    const known = this.#calls.get(key)
    if (!known) return undefined
    while (known.list[known.next]?.isAnswered) known.next++
    return known.list[known.next]
  }
}

/** The calls of the latest turn of the model that have no result yet. */
class OpenCalls {
  #byId = new CallIndex()
  #byName = new CallIndex()
  /** Those to which the client gave no id. */
  #unnamed = new CallIndex()
  #count = 0

  /** Begins a turn of the model: results belong to the latest one. */
  beginTurn(): void {
    this.#byId = new CallIndex()
    this.#byName = new CallIndex()
    this.#unnamed = new CallIndex()
  }

  /** Returns the id of a call; without one of its vendor, one that depends on its position alone. */
  add(id: string | null | undefined, name: string): string {
    this.#count++
    const call = { id: id || `call_${this.#count}`, isAnswered: false }
    if (id) this.#byId.add(id, call)
    else this.#unnamed.add(name, call)
    this.#byName.add(name, call)
    return call.id
  }

  /** Returns the id of the call that a result belongs to; undefined when there is none. */
  answer(id: string | null | undefined, name: string): string | undefined {
    // A call whose id the client has not kept cannot be found by it.
    const call = id ? (this.#byId.find(id) ?? this.#unnamed.find(name)) : this.#byName.find(name)
    if (call) call.isAnswered = true
    return call?.id
  }
}

function* toAssistant(
  { parts, path }: Turn,
  open: OpenCalls,
  { target, proofs, readText }: ConversationOptions,
): Steps<readonly MadeMessage[]> {
  open.beginTurn()
  const texts: PlacedPart[] = []
  const thoughts: string[] = []
  const calls: { readonly call: Readonly<Record<string, unknown>>; readonly path: string }[] = []
  for (const [at, placed] of parts.entries()) {
    if (isStep(at)) yield
    const { functionCall: made, text, thought } = placed.part
    if (made) {
      const name = made.name ?? ''
      const args = made.args ? readText(`${placed.path}.functionCall.args`) : undefined
      const called = { name, arguments: args ?? '{}' }
      const id = open.add(made.id, name)
      calls.push({ path: placed.path, call: { id, type: 'function', function: called } })
    } else if (typeof text === 'string' && text !== '') {
      if (thought) thoughts.push(text)
      else texts.push(placed)
    }
  }
  if (texts.length + calls.length === 0) return []
  const message: ChatMessage = {
    role: 'assistant',
    content: texts.length === 0 ? null : texts.map(({ part }) => part.text).join(''),
    ...(calls.length > 0 && { tool_calls: calls.map(({ call }) => call) }),
  }
  const [proven = message] = addProofs([message], readProofs(parts, proofs), target)
  // Without a proof, thoughts are plain text, which some upstreams take back.
  const shown = proven['past_reasoning'] ? [] : thoughts.map((text) => ({ text }))
  return [
    {
      message: addPastReasoning(proven, shown, target),
      path,
      parts: texts.map((placed) => placed.path),
      calls: calls.map((placed) => placed.path),
    },
  ]
}

function readProofs(parts: readonly PlacedPart[], proofs: RequestProofs) {
  return parts.flatMap(({ part: { thoughtSignature: signature } }) => {
    const proof = isOwnSignature(signature) ? proofs.read(signature) : undefined
    return proof ? [proof] : []
  })
}

/** The results of a turn come first, as the chat API demands; what else it has follows as the user's message. */
function* toUser(
  { parts, path }: Turn,
  open: OpenCalls,
  options: ConversationOptions,
): Steps<readonly MadeMessage[]> {
  const results: MadeMessage[] = []
  const content: { readonly part: ContentPart; readonly path: string }[] = []
  for (const [at, { part, path: place }] of parts.entries()) {
    if (isStep(at)) yield
    if (part.functionResponse) {
      results.push(toResult(part.functionResponse, place, { open, options }))
      continue
    }
    const written = toUserPart(part, place, options.target)
    if (written) content.push({ part: written, path: place })
  }
  if (content.length === 0 && results.length > 0) return results
  const isText = content.every(({ part }) => part.type === 'text')
  const text = content.map(({ part }) => part.text).join('\n\n')
  const message: ChatMessage = {
    role: 'user',
    content: isText ? text : content.map(({ part }) => part),
  }
  return [...results, { message, path, parts: content.map((each) => each.path), calls: [] }]
}

function toUserPart(part: GeminiPart, path: string, target: ChatTarget): ContentPart | undefined {
  const { text, thought, inlineData, fileData } = part
  if (inlineData) return toFilePart({ inlineData }, path, target)
  if (fileData) return toFilePart({ fileData }, path, target)
  return typeof text === 'string' && text !== '' && !thought ? { type: 'text', text } : undefined
}

interface ResultContext {
  readonly open: OpenCalls
  readonly options: ConversationOptions
}

function toResult(
  given: NonNullable<GeminiPart['functionResponse']>,
  path: string,
  { open, options }: ResultContext,
): MadeMessage {
  const { target, readText } = options
  const { id, name } = given
  const callId = open.answer(id, name ?? '')
  if (callId === undefined) {
    const place = `${path}.functionResponse`
    const which = id ? `id ${JSON.stringify(id)}` : `name ${JSON.stringify(name ?? '')}`
    throw new UntranslatableError(
      `${place}: no call of the model's turn before has the ${which} and no result yet`,
      place,
    )
  }
  const { text, isError } = toResultText(
    given.response,
    isGiven(given.response) ? readText(`${path}.functionResponse.response`) : undefined,
  )
  const media = (given.parts ?? []).flatMap((each, at) => {
    const place = `${path}.functionResponse.parts.${at}`
    const written = toFilePart(each, place, target)
    return written ? [{ part: written, path: place }] : []
  })
  const message: ChatMessage = {
    role: 'tool',
    tool_call_id: callId,
    content: media.length === 0 ? text : [{ type: 'text', text }, ...media.map(({ part }) => part)],
    ...(isError && { is_error: true }),
  }
  return { message, path, parts: [path, ...media.map((each) => each.path)], calls: [] }
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null
}
