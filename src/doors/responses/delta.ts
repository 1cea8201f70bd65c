import { isObject } from '../../wire/json.ts'
import {
  type ExtraContent,
  readExtraContent,
  readThinkingBlocks,
  type ThinkingBlock,
} from './proofs.ts'

/** What a delta of the chat API adds to an answer; or a whole message, as a single delta. */
export interface Delta {
  readonly reasoning: string
  readonly text: string
  readonly refusal: string
  readonly calls: readonly CallDelta[]
  readonly thinking: readonly ThinkingBlock[]
  /** The signature of the message's text. */
  readonly extra: ExtraContent | undefined
  readonly annotations: readonly object[]
}

export interface CallDelta {
  /** The position of the call in its message, if the vendor gives one. */
  readonly index: number | undefined
  readonly id: string
  readonly name: string
  readonly arguments: string
  readonly extra: ExtraContent | undefined
}

/** Reads a delta or a message. Members of other types than the API's read as absent. */
export function readDelta(delta: Readonly<Record<string, unknown>>): Delta {
  const { content } = delta
  // Vendors often send the same reasoning under both names.
  const reasoning = delta['reasoning_content'] ?? delta['reasoning']
  return {
    reasoning: joinTexts(reasoning, 'text') + joinThoughts(content),
    text: joinTexts(content, 'text'),
    refusal: toText(delta['refusal']),
    calls: readCalls(delta),
    thinking: readThinkingBlocks(delta['thinking_blocks']),
    extra: readExtraContent(delta['extra_content']),
    annotations: readAnnotations(delta['annotations']),
  }
}

function readCalls(delta: Readonly<Record<string, unknown>>): readonly CallDelta[] {
  const { tool_calls: calls, function_call: legacy } = delta
  if (Array.isArray(calls)) return calls.filter(isObject).map(readCall)
  return isObject(legacy) ? [readCall({ index: 0, function: legacy })] : []
}

function readCall(call: Readonly<Record<string, unknown>>): CallDelta {
  const { index, id, function: called } = call
  const { name, arguments: text } = isObject(called) ? called : {}
  return {
    index: typeof index === 'number' ? index : undefined,
    id: toText(id),
    name: toText(name),
    // Some servers send an object.
    arguments: isObject(text) ? JSON.stringify(text) : toText(text),
    extra: readExtraContent(call['extra_content']),
  }
}

/** Joins a text, or the parts that some vendors send in its place. */
function joinTexts(value: unknown, member: string): string {
  if (!Array.isArray(value)) return toText(value)
  return value.map((part) => (isObject(part) ? toText(part[member]) : '')).join('')
}

/** Joins the thoughts among the parts of a content, as Mistral sends them. */
function joinThoughts(content: unknown): string {
  if (!Array.isArray(content)) return ''
  return content.map((part) => (isObject(part) ? joinTexts(part['thinking'], 'text') : '')).join('')
}

/** Converts citations to the form of this API, in which their members are not nested. */
function readAnnotations(value: unknown): readonly object[] {
  if (!Array.isArray(value)) return []
  return value.flatMap((annotation) => {
    const citation: unknown = isObject(annotation) ? annotation['url_citation'] : undefined
    if (!isObject(citation)) return []
    const { start_index = 0, end_index = 0, url = '', title = '' } = citation
    return [{ type: 'url_citation', start_index, end_index, url, title }]
  })
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
