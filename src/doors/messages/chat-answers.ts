import type { ChatMessage, ContentPart } from '../../core/chat.ts'
import { addProofs } from '../proofs.ts'
import type { ChatTarget } from '../translated-link.ts'
import {
  type ConversationOptions,
  type PlacedBlock,
  type PlacedMessage,
  type PlacedPart,
  readMark,
  toBlockParts,
  toContent,
} from './chat-parts.ts'
import { type Block, blockSchemas, checkPart } from './schema.ts'
import { readProofText, readProven } from './thinking.ts'

/** The blocks of an earlier answer that one chat message can hold. */
interface Segment {
  readonly thinking: object[]
  readonly parts: PlacedPart[]
  readonly calls: PlacedCall[]
}

interface PlacedCall {
  readonly call: Readonly<Record<string, unknown>>
  readonly path: string
}

/**
 * Writes an earlier answer. Thinking goes only to models that check its proof, and has to stay in its
 * place: thinking behind a text or a call begins another message, which the vendor's turn joins again. An
 * answer with the vendor's own blocks is one message, since they replace it as a whole.
 */
export function toAssistantMessages(
  blocks: readonly PlacedBlock[],
  path: string,
  options: ConversationOptions,
): PlacedMessage[] {
  const { target } = options
  const proofs = blocks.flatMap(({ block }) => {
    const text = readProofText(block)
    return text === undefined ? [] : (options.proofs.read(text) ?? [])
  })
  const isWhole = target.ignoresUnknown && proofs.some(({ content }) => content)
  const segments: Segment[] = [newSegment()]
  for (const [index, { block, path: place }] of blocks.entries()) {
    let segment = segments.at(-1) as Segment
    const thinking = target.takesThinkingBlocks ? readProven(block) : undefined
    const isLate = thinking !== undefined && segment.parts.length + segment.calls.length > 0
    if (isLate && !isWhole) {
      segment = newSegment()
      segments.push(segment)
    }
    // With its position it does not go back, unless the vendor's own blocks do.
    if (thinking) segment.thinking.push(isLate && isWhole ? { ...thinking, index } : thinking)
    else if (block.type === 'tool_use') segment.calls.push(toCall(block, place, options))
    else segment.parts.push(...toBlockParts(block, place, target))
  }
  const kept = segments.filter(({ parts, calls }) => isWhole || parts.length + calls.length > 0)
  const messages = kept.map((segment) => toMessage(segment, target))
  return addProofs(messages, proofs, target).map((message, at) => ({
    message,
    path,
    parts: kept[at]?.parts.map((part) => part.path) ?? [],
    calls: kept[at]?.calls.map((call) => call.path) ?? [],
  }))
}

function newSegment(): Segment {
  return { thinking: [], parts: [], calls: [] }
}

function toCall(
  block: Block,
  path: string,
  { target, readInput }: ConversationOptions,
): PlacedCall {
  const { id, name } = checkPart(blockSchemas.tool_use, block, path)
  const called = { name, arguments: readInput(`${path}.input`) }
  return { path, call: { id, type: 'function', function: called, ...readMark(block, target) } }
}

function toMessage({ thinking, parts, calls }: Segment, target: ChatTarget): ChatMessage {
  // A text may be split where it cites a source.
  const content: string | ContentPart[] | null =
    parts.length === 0 ? null : toContent(parts, target, (texts) => texts.join(''))
  return {
    role: 'assistant',
    content,
    ...(thinking.length > 0 && { thinking_blocks: thinking }),
    ...(calls.length > 0 && { tool_calls: calls.map(({ call }) => call) }),
  }
}
