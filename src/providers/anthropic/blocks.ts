import { type CanonicalMessage, unsupportedPart } from '../canonical/messages.ts'
import type { MarkRules, OtherPart, PartBlocks } from '../claude/cache-marks.ts'
import { type Block, documentBlock, imageBlock } from './media.ts'

/** What users say, and what tools return. */
export const contentBlocks: PartBlocks = { text: textBlock, other: mediaBlock }

/** Instructions and answers are text alone. */
export const textBlocks: PartBlocks = { text: textBlock, other: refuse }

/** "text content blocks must contain non-whitespace text" */
function textBlock(text: string): Block | undefined {
  return text.trim() === '' ? undefined : { type: 'text', text }
}

function mediaBlock(part: OtherPart, message: CanonicalMessage): Block {
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

function refuse(part: OtherPart, message: CanonicalMessage): never {
  throw unsupportedPart(part, 'anthropic', message)
}

/** A mark is a member of the block. Thinking must come back as it was. */
export const markRules: MarkRules = {
  carries: ({ type }) => type !== 'thinking' && type !== 'redacted_thinking',
  marked: (block, { control }) => [{ ...block, cache_control: control }],
}

export function isMarked(block: Block): boolean {
  return 'cache_control' in block
}
