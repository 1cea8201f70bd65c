import type { ChatMessage, ContentPart } from '../../../core/chat.ts'
import type { PastReasoning } from '../../../core/past-reasoning.ts'
import { isObject, type JsonObject } from '../../../wire/json/parse.ts'

/** A message on its way into the form of a profile. */
export interface WrittenMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly message: ChatMessage
  /** The reasoning that goes back with an answer. Empty when none is expected. */
  readonly reasoning?: readonly PastReasoning[]
}

export type ChatContent = ChatMessage['content']
/** Separates texts that become one. */
const blankLine = '\n\n'

/** Returns whether a content has nothing in it. */
export function isEmptyContent(content: ChatContent): boolean {
  return content === undefined || content === null || content.length === 0
}

/** Joins two contents as `joinAllContents` does. */
export function joinContents(first: ChatContent, second: ChatContent): ChatContent {
  return joinAllContents([first, second])
}

/** Joins contents in their order. Texts become one; with any other part the content is a list. */
export function joinAllContents(contents: readonly ChatContent[]): ChatContent {
  const filled = contents.filter((content) => !isEmptyContent(content))
  if (filled.length < 2) return filled[0] ?? contents.at(-1)
  const firstList = filled.findIndex((content) => typeof content !== 'string')
  if (firstList < 0) return filled.join(blankLine)
  const texts = filled.slice(0, firstList)
  const lead = texts.length > 0 ? listContentParts(texts.join(blankLine)) : []
  return [...lead, ...filled.slice(firstList).flatMap(listContentParts)]
}

/** Returns a content as a string where all of its parts are plain text. */
export function toPlainContent(content: ChatContent): ChatContent {
  if (!Array.isArray(content) || !content.every(isPlainText)) return content
  return content.map(({ text }) => text).join(blankLine)
}

export function listContentParts(content: ChatContent): readonly ContentPart[] {
  if (content === undefined || content === null) return []
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content
}

/** A text with a mark of its own must stay a part. */
function isPlainText(part: ContentPart): boolean {
  return part.type === 'text' && typeof part.text === 'string' && !('cache_control' in part)
}

/** Lists the tool calls of a message. */
export function listCalls({ tool_calls: calls }: ChatMessage): readonly JsonObject[] {
  return Array.isArray(calls) ? calls.filter(isObject) : []
}

/** Returns the id of a call, or of the call that a result answers. */
export function readId(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
