import type { ChatMessage } from '../../core/chat.ts'
import type { Steps } from '../../core/steps.ts'
import { UntranslatableError } from '../../core/untranslatable-error.ts'
import type { MadeMessage } from '../made-message.ts'
import { fitResults } from '../tool-results.ts'
import type { ChatTarget } from '../translated-link.ts'
import { toAssistantMessages } from './chat-answers.ts'
import {
  type ConversationOptions,
  type PlacedBlock,
  type PlacedPart,
  readCacheControl,
  toBlockParts,
  toContent,
  toParts,
} from './chat-parts.ts'
import { restoreId } from './ids.ts'
import { type Block, blockSchemas, type Content, type CountRequest, checkPart } from './schema.ts'

/** How many messages are written at once: less than a millisecond's work. */
const writtenAtOnce = 64

/**
 * Writes the instructions and the messages, and can be interrupted between them. Where only instructions are
 * left, the user's text is empty: each kind writes it as its vendor requires.
 */
export function* toChatMessages(
  { system, messages }: CountRequest,
  options: ConversationOptions,
): Steps<readonly MadeMessage[]> {
  const { target } = options
  const placed = toInstructions(system ?? '', 'system', target)
  for (const [index, { role, content }] of messages.entries()) {
    const path = `messages.${index}`
    const made =
      role === 'assistant'
        ? yield* toAssistantMessages(listBlocks(content, path), path, options)
        : toOtherMessages({ role, content }, path, target)
    for (const one of made) placed.push(one)
    if (index % writtenAtOnce === writtenAtOnce - 1) yield
  }
  if (placed.every(({ message }) => message.role === 'system')) {
    placed.push(placeMessage({ role: 'user', content: '' }, 'messages.0.content', []))
  }
  const fitted = fitResults(placed, target)
  yield
  return moveBehindResults(fitted)
}

function toOtherMessages(
  { role, content }: CountRequest['messages'][number],
  path: string,
  target: ChatTarget,
): MadeMessage[] {
  switch (role) {
    case 'user':
      return toUserMessages(listBlocks(content, path), path, target)
    case 'system':
      return toInstructions(content, `${path}.content`, target)
    default:
      throw new UntranslatableError(`${path}.role: unknown role`, `${path}.role`)
  }
}

/** Lists the blocks of a message; a string is one text block. */
function listBlocks(content: Content, path: string): readonly PlacedBlock[] {
  return typeof content === 'string'
    ? [{ block: { type: 'text', text: content }, path: `${path}.content` }]
    : content.map((block, index) => ({ block, path: `${path}.content.${index}` }))
}

function toInstructions(content: Content, path: string, target: ChatTarget): MadeMessage[] {
  const parts = toParts(content, path, target)
  if (parts.length === 0) return []
  return [placeMessage({ role: 'system', content: toContent(parts, target) }, path, parts)]
}

function placeMessage(
  message: ChatMessage,
  path: string,
  parts: readonly PlacedPart[],
): MadeMessage {
  return { message, path, parts: parts.map((part) => part.path), calls: [] }
}

/**
 * Writes the results first, each as a message of its own, because they must follow their calls. Instructions among
 * the blocks are a message of their own in their place.
 */
function toUserMessages(
  blocks: readonly PlacedBlock[],
  path: string,
  target: ChatTarget,
): MadeMessage[] {
  const results: MadeMessage[] = []
  const others: MadeMessage[] = []
  let own: PlacedPart[] = []
  const close = () => {
    if (own.length === 0) return
    others.push(placeMessage({ role: 'user', content: toContent(own, target) }, path, own))
    own = []
  }
  for (const { block, path: place } of blocks) {
    if (block.type === 'tool_result') {
      results.push(toResult(block, place, target))
    } else if (block.type === 'mid_conv_system') {
      close()
      const { content } = checkPart(blockSchemas.mid_conv_system, block, place)
      others.push(...toInstructions(content, `${place}.content`, target))
    } else {
      own.push(...toBlockParts(block, place, target))
    }
  }
  close()
  return [...results, ...others]
}

/** Writes a `tool_result` block. `fitResults` brings it into the form that the target accepts. */
function toResult(block: Block, path: string, target: ChatTarget): MadeMessage {
  const {
    tool_use_id: id,
    content,
    is_error: isError,
  } = checkPart(blockSchemas.tool_result, block, path)
  const parts = toParts(content ?? '', `${path}.content`, target)
  const message = {
    role: 'tool',
    tool_call_id: restoreId(id),
    content: toContent(parts, target),
    ...(isError && { is_error: true }),
    ...readCacheControl(block, target),
  }
  return placeMessage(message, path, parts)
}

/** Moves instructions between calls and their results behind the results: nothing may separate them. */
function moveBehindResults(placed: readonly MadeMessage[]): readonly MadeMessage[] {
  const ordered: MadeMessage[] = []
  let waiting: MadeMessage[] = []
  let isAfterCalls = false
  for (const one of placed) {
    const { role, tool_calls: calls } = one.message
    if (role === 'system' && isAfterCalls) {
      waiting.push(one)
      continue
    }
    if (role !== 'tool') {
      for (const later of waiting) ordered.push(later)
      waiting = []
      isAfterCalls = calls !== undefined && calls !== null
    }
    ordered.push(one)
  }
  return [...ordered, ...waiting]
}
