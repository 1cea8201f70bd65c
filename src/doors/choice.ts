import type { RawChoice } from '../core/frame.ts'
import type { PastReasoning } from '../core/past-reasoning.ts'
import { isObject, type JsonObject } from '../wire/json/parse.ts'

/** What a choice of a chunk, or of a whole answer, adds to the answer. */
export interface ChoiceContent {
  readonly reasoning: string
  /** What an upstream of the OpenAI format expects back of the reasoning so far. */
  readonly past: PastReasoning | undefined
  /** Reasoning with the vendor's proof, in the form of Claude's API. */
  readonly thinkingBlocks: readonly JsonObject[]
  readonly text: string
  readonly refusal: string
  readonly calls: readonly CallContent[]
  /** The sources that the text cites, in the form of the chat API. */
  readonly annotations: readonly JsonObject[]
  /** A vendor's proof of the text, such as Gemini's signature. */
  readonly extra: JsonObject | undefined
  /** The vendor's own blocks of the whole answer, where nothing else brings them back. */
  readonly content: JsonObject | undefined
  readonly finishReason: string | undefined
}

/** A tool call, or the next piece of one. */
export interface CallContent {
  /** Its position among the calls; undefined from vendors that leave it out. */
  readonly index: number | undefined
  readonly id: string
  readonly name: string
  /** JSON text, or a piece of it. */
  readonly arguments: string
  /** A vendor's proof of the call. */
  readonly extra: JsonObject | undefined
}

/** Reads a choice in the form of chat completions. Members of another type read as absent. */
export function readChoice(choice: RawChoice): ChoiceContent {
  const { delta, message, finish_reason: finishReason } = choice
  const given = isObject(delta) ? delta : isObject(message) ? message : noContent
  return {
    reasoning: toText(given['reasoning_content']),
    // The reader of the upstream's answers has written it.
    past: given['past_reasoning'] as PastReasoning | undefined,
    thinkingBlocks: listObjects(given['thinking_blocks']),
    text: toText(given['content']),
    refusal: toText(given['refusal']),
    calls: listObjects(given['tool_calls']).map(readCall),
    annotations: listObjects(given['annotations']),
    extra: toObject(given['extra_content']),
    content: readContent(given['provider_content']),
    finishReason: typeof finishReason === 'string' ? finishReason : undefined,
  }
}

const noContent: JsonObject = Object.freeze({})

function readCall(call: JsonObject): CallContent {
  const { index, id, function: called, extra_content: extra } = call
  const { name, arguments: given } = isObject(called) ? called : noContent
  return {
    index: typeof index === 'number' ? index : undefined,
    id: toText(id),
    name: toText(name),
    arguments: toText(given),
    extra: toObject(extra),
  }
}

function readContent(value: unknown): JsonObject | undefined {
  const content = toObject(value)
  return content?.['isProvenOtherwise'] === true ? undefined : content
}

function toObject(value: unknown): JsonObject | undefined {
  return isObject(value) ? value : undefined
}

function listObjects(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
