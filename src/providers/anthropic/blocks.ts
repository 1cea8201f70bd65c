import { cannotCarry, type Message } from '../canonical/messages.ts'
import type { PastCall } from '../canonical/past-call.ts'
import {
  CacheMark,
  type Markable,
  type MarkRules,
  markedBlocks,
  marksOn,
  type OtherPart,
  type PartBlocks,
  settleMarks,
} from '../claude/cache-marks.ts'
import { type Block, documentBlock, imageBlock } from './media.ts'
import type { ToolIds } from './tool-ids.ts'

/** What users say, and what tools return. */
export const contentBlocks: PartBlocks = { text: textBlock, other: mediaBlock }

/** Instructions and answers are text alone. */
export const textBlocks: PartBlocks = { text: textBlock, other: refuse }

/** "text content blocks must contain non-whitespace text" */
function textBlock(text: string): Block | undefined {
  return text.trim() === '' ? undefined : { type: 'text', text }
}

function mediaBlock(part: OtherPart, message: Message): Block {
  switch (part.type) {
    case 'image':
      return imageBlock(part)
    case 'file':
      return documentBlock(part)
    case 'audio':
    case 'other':
      return refuse(part, message)
    default:
      return part satisfies never
  }
}

function refuse(part: OtherPart, message: Message): never {
  throw cannotCarry(part, 'anthropic', message)
}

export function toolUse(call: PastCall, ids: ToolIds): readonly Markable[] {
  const block = {
    type: 'tool_use',
    id: ids.opened(call.id),
    name: call.name,
    input: call.object,
  }
  return [block, ...marksOn(call.raw)]
}

/** Marks inside of a result stay there; one before everything inside is a mark on the result. */
export function toolResult(
  message: Message & { readonly role: 'tool' },
  ids: ToolIds,
): readonly Markable[] {
  const own = marksOn(message.raw)
  const inner = markedBlocks({ ...message, raw: {} }, contentBlocks)
  const [blocks = []] = settleMarks([inner], markRules)
  const content = typeof message.content === 'string' ? blocks[0]?.['text'] : blocks
  const result = {
    type: 'tool_result',
    tool_use_id: ids.answered(message.callId),
    ...(blocks.length > 0 && { content }),
  }
  return [result, ...own, ...inner.slice(0, 1).filter((item) => item instanceof CacheMark)]
}

/** A mark is a member of the block. Thinking must come back as it was. */
export const markRules: MarkRules = {
  carries: ({ type }) => type !== 'thinking' && type !== 'redacted_thinking',
  marked: (block, { control }) => [{ ...block, cache_control: control }],
}

export function isMarked(block: Block): boolean {
  return 'cache_control' in block
}
