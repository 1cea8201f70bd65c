import { type CanonicalMessage, unsupportedPart } from '../canonical/messages.ts'
import type { ClaudeBlock, MarkRules, OtherPart, PartTranslator } from '../claude/cache-marks.ts'
import { toDocumentBlock, toImageBlock } from './media.ts'

/** For user messages and tool results, which may hold images and documents. */
export const contentParts: PartTranslator = { toTextBlock, toOtherBlock: toMediaBlock }

/** For instructions and assistant messages, which take text only. */
export const textParts: PartTranslator = { toTextBlock, toOtherBlock: rejectPart }

/**
 * "text content blocks must contain non-whitespace text":
 * https://github.com/anthropics/claude-code/issues/23440
 */
function toTextBlock(text: string): ClaudeBlock | undefined {
  return text.trim() === '' ? undefined : { type: 'text', text }
}

function toMediaBlock(part: OtherPart, message: CanonicalMessage): ClaudeBlock {
  switch (part.type) {
    case 'image':
      return toImageBlock(part)
    case 'file':
      return toDocumentBlock(part)
    case 'audio':
    case 'guarded':
    case 'other':
      return rejectPart(part, message)
    default:
      return part satisfies never
  }
}

function rejectPart(part: OtherPart, message: CanonicalMessage): never {
  throw unsupportedPart(part, 'anthropic', message)
}

/** A mark is a member of its block. A thinking block must come back unchanged, so it takes none. */
export const markRules: MarkRules = {
  canCarry: (block) => !isThinking(block),
  apply: (block, { control }) => [{ ...block, cache_control: control }],
}

export function isThinking({ type }: ClaudeBlock): boolean {
  return type === 'thinking' || type === 'redacted_thinking'
}

export function isMarked(block: ClaudeBlock): boolean {
  return 'cache_control' in block
}
