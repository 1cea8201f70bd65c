import type { RawChoice } from '../../../core/frame.ts'
import type { PastReasoning } from '../../../core/past-reasoning.ts'
import type { Profile } from '../../../core/profile.ts'
import { isObject, type JsonObject } from '../../../wire/json/parse.ts'
import type { ToolNames } from '../../../wire/tool-names.ts'
import type { TargetModel } from '../write/history.ts'
import { mapFinishReason } from './finish-reason.ts'
import { ReasoningCollector, readReasoning } from './reasoning.ts'
import { ThinkTags } from './think-tags.ts'

export interface ReadContext {
  readonly profile: Profile
  readonly maker: TargetModel
  readonly names: ToolNames
}

/**
 * Reads the choices of answers to requests that the gateway has written, for the writers of other APIs: names
 * of tools as the client knows them, finish reasons in OpenAI's words, reasoning as `reasoning_content`, and
 * what must come back of it as `past_reasoning`, where it ends.
 */
export class ChoiceReader {
  readonly #context: ReadContext
  readonly #states = new Map<unknown, ChoiceState>()

  constructor(context: ReadContext) {
    this.#context = context
  }

  /** Reads a choice of a chunk, or the only one of a whole answer. */
  read(choice: RawChoice): RawChoice {
    const { delta, message, index } = choice
    const text = findText(choice)
    if (text !== undefined && this.#getState(index).passesText) {
      return { index, delta: { content: text }, finish_reason: null }
    }
    if (isPlainAnswer(choice) && this.#getState(index).passesText) return choice
    const member = isObject(delta) ? 'delta' : 'message'
    const given = isObject(delta) ? delta : isObject(message) ? message : {}
    const state = this.#getState(index)
    const { finish_reason: reason } = choice
    const isEnd = typeof reason === 'string' || member === 'message'
    return {
      ...choice,
      [member]: state.read(given, isEnd),
      finish_reason: typeof reason === 'string' ? mapFinishReason(reason, state.hasCalls) : null,
    }
  }

  #getState(index: unknown): ChoiceState {
    const known = this.#states.get(index)
    if (known) return known
    const state = new ChoiceState(this.#context)
    this.#states.set(index, state)
    return state
  }
}

class ChoiceState {
  readonly #context: ReadContext
  readonly #reasoning: ReasoningCollector
  readonly #tags: ThinkTags | undefined
  hasCalls = false

  constructor(context: ReadContext) {
    this.#context = context
    const { model, lineage } = context.maker
    this.#reasoning = new ReasoningCollector({ model, lineage })
    this.#tags = context.profile.reasoningField === 'tags' ? new ThinkTags() : undefined
  }

  /** True while a text is nothing but that: it has no tags to look for, and no reasoning ends with it. */
  get passesText(): boolean {
    return this.#tags === undefined && this.#reasoning.isEmpty
  }

  read(given: JsonObject, isEnd: boolean): JsonObject {
    const calls = this.#readCalls(given)
    const { text, reasoning, gap } = this.#readTexts(given, isEnd)
    const follows = text !== '' || calls.length > 0 || isEnd
    const past = follows ? this.#takePast(gap) : undefined
    return {
      ...given,
      content: text,
      reasoning_content: reasoning,
      reasoning: undefined,
      reasoning_details: undefined,
      ...(calls.length > 0 && { tool_calls: calls }),
      past_reasoning: past,
    }
  }

  #readCalls(given: JsonObject): readonly JsonObject[] {
    const calls = given['tool_calls']
    if (!Array.isArray(calls) || calls.length === 0) return []
    this.hasCalls = true
    return calls.filter(isObject).map((call) => restoreName(call, this.#context.names))
  }

  #readTexts(given: JsonObject, isEnd: boolean) {
    const piece = readReasoning(given)
    if (piece) this.#reasoning.add(piece)
    const content = readText(given['content'])
    const plain = piece?.text ?? ''
    if (!this.#tags) return { text: content, reasoning: plain, gap: undefined }
    const pieces = [this.#tags.push(content), ...(isEnd ? [this.#tags.end()] : [])]
    const tagged = pieces.map(({ reasoning }) => reasoning).join('')
    if (tagged !== '') this.#reasoning.add({ form: 'tags', text: tagged, entries: [] })
    return {
      text: pieces.map(({ text }) => text).join(''),
      reasoning: plain + tagged,
      gap: pieces.find(({ gap }) => gap !== undefined)?.gap,
    }
  }

  /** Reasoning without text goes back only beside calls, where some upstreams demand it. */
  #takePast(gap: string | undefined): PastReasoning | undefined {
    const collector = this.#reasoning
    if (collector.isEmpty || this.#context.profile.reasoningHistory === 'none') return undefined
    if (collector.isBlank && !this.hasCalls) return undefined
    return collector.take(gap)
  }
}

/**
 * Returns the text of a choice of a chunk that has nothing else, as nearly all have; undefined for any other. Nothing
 * is copied here: that would take as long as the rest of a frame.
 */
function findText(choice: RawChoice): string | undefined {
  const { delta } = choice
  if (!isObject(delta) || typeof delta['content'] !== 'string') return undefined
  for (const name in delta) if (!plainMembers.has(name) && isSaying(delta[name])) return undefined
  for (const name in choice)
    if (name !== 'delta' && name !== 'index' && isSaying(choice[name])) return undefined
  return delta['content']
}

const plainMembers: ReadonlySet<string> = new Set(['content', 'role'])

/** True for the choice of a whole answer that is a text and nothing to change, as most are. */
function isPlainAnswer({ delta, message, finish_reason: reason }: RawChoice): boolean {
  if (isObject(delta) || !isObject(message) || typeof message['content'] !== 'string') return false
  if (typeof reason === 'string' && mapFinishReason(reason, false) !== reason) return false
  for (const name of changedMembers) if (isSaying(message[name])) return false
  return true
}

const changedMembers = [
  'tool_calls',
  'reasoning_content',
  'reasoning',
  'reasoning_details',
  'past_reasoning',
] as const

function isSaying(value: unknown): boolean {
  return value !== null && value !== undefined
}

/** Reads a text, or the text parts that some upstreams send instead. */
function readText(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content
    .filter(isObject)
    .map(({ text }) => (typeof text === 'string' ? text : ''))
    .join('')
}

function restoreName(call: JsonObject, names: ToolNames): JsonObject {
  const called = call['function']
  if (!isObject(called) || typeof called['name'] !== 'string') return call
  return { ...call, function: { ...called, name: names.restore(called['name']) } }
}
