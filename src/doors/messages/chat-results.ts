import type { ChatMessage } from '../../core/chat.ts'
import type { ChatTarget } from '../translated-link.ts'
import { type PlacedPart, readMark, toContent, toParts } from './chat-parts.ts'
import { type Block, blockSchemas, checkPart } from './schema.ts'

/** A tool result: its message, and the images and files that go into the user message behind it. */
export interface ChatResult {
  readonly message: ChatMessage
  readonly texts: readonly PlacedPart[]
  readonly media: readonly PlacedPart[]
}

/** Writes a `tool_result` block. A text says that the call failed, because chat requests have no field for it. */
export function toResult(block: Block, path: string, target: ChatTarget): ChatResult {
  const {
    tool_use_id: id,
    content,
    is_error: isError,
  } = checkPart(blockSchemas.tool_result, block, path)
  const parts = toParts(content ?? '', `${path}.content`, target)
  const files = parts.filter(({ part }) => part.type !== 'text')
  const texts = [
    ...(isError ? [note(failed, path)] : []),
    ...parts.filter(({ part }) => part.type === 'text'),
    ...(files.length > 0 ? [note(seeBelow, path)] : []),
  ]
  const message = {
    role: 'tool',
    tool_call_id: id,
    content: toContent(texts, target),
    ...readMark(block, target),
  }
  const media =
    files.length > 0 ? [note(`The files of the tool result ${id}:`, path), ...files] : []
  return { message, texts, media }
}

const failed = 'The tool call failed.'
const seeBelow = 'The files of this result are in the next user message.'

function note(text: string, path: string): PlacedPart {
  return { part: { type: 'text', text }, path }
}
