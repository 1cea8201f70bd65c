import type { JsonObject } from '../../wire/json/parse.ts'
import { type CanonicalMessage, type GuardedPart, unsupportedPart } from '../canonical/messages.ts'
import { placeholderText } from '../canonical/placeholder.ts'
import type {
  CacheMark,
  ClaudeBlock,
  MarkRules,
  OtherPart,
  PartTranslator,
} from '../claude/cache-marks.ts'
import { isTextDocument, type MediaBlocks } from './media.ts'
import type { BedrockModel } from './models.ts'

/** Fills content that Converse does not allow to be empty. */
export const placeholder: ClaudeBlock = Object.freeze({ text: placeholderText })

/** For user messages and tool results, which may hold images and documents. */
export function createContentParts(media: MediaBlocks): PartTranslator {
  return {
    toTextBlock,
    toOtherBlock(part, message) {
      switch (part.type) {
        case 'image':
          return media.toImageBlock(part)
        case 'file':
          return media.toFileBlock(part)
        case 'guarded':
          return toGuardedBlock(part)
        case 'audio':
        case 'other':
          return rejectPart(part, message)
        default:
          return part satisfies never
      }
    },
  }
}

/** For assistant messages, which take text only. */
export const textParts: PartTranslator = { toTextBlock, toOtherBlock: rejectPart }

/** For instructions. */
export const instructionParts: PartTranslator = {
  toTextBlock,
  toOtherBlock: (part, message) =>
    part.type === 'guarded' ? toGuardedBlock(part) : rejectPart(part, message),
}

/**
 * With a block like this in a request, its guardrail checks only such blocks.
 * https://docs.aws.amazon.com/bedrock/latest/userguide/guardrails-use-converse-api.html
 */
function toGuardedBlock({ text, qualifiers }: GuardedPart): ClaudeBlock {
  return { guardContent: { text: { text, qualifiers } } }
}

/** Converse rejects blank texts. */
function toTextBlock(text: string): ClaudeBlock | undefined {
  return text.trim() === '' ? undefined : { text }
}

function rejectPart(part: OtherPart, message: CanonicalMessage): never {
  throw unsupportedPart(part, 'bedrock', message)
}

/** Translates a proven block of `thinking_blocks`. */
export function toReasoningBlock({ thinking, signature, data }: JsonObject): ClaudeBlock {
  return {
    reasoningContent:
      data === undefined
        ? { reasoningText: { text: thinking, signature } }
        : { redactedContent: data },
  }
}

/**
 * A mark is a cache point behind its block. Reasoning must come back unchanged, and AWS rejects a
 * cache point behind a text document.
 * https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html
 */
export function createMarkRules({ hasCachePoints }: BedrockModel): MarkRules {
  return {
    canCarry: (block) => !('reasoningContent' in block) && !isTextDocument(block),
    apply: (block, mark) => (hasCachePoints ? [block, toCachePoint(mark)] : [block]),
  }
}

export const toolMarkRules: MarkRules = {
  canCarry: () => true,
  apply: (tool, mark) => [tool, toCachePoint(mark)],
}

function toCachePoint({ control: { ttl } }: CacheMark): ClaudeBlock {
  return { cachePoint: { type: 'default', ttl: ttl === '5m' || ttl === '1h' ? ttl : undefined } }
}
