import type { ChatMessage, ContentPart } from '../../core/chat.ts'
import type { Steps } from '../../core/steps.ts'
import type { MadeMessage } from '../made-message.ts'
import { addProofs, type Proof, type ReturnedProof, toTextProof } from '../proofs.ts'
import type { ChatTarget } from '../translated-link.ts'
import {
  type ConversationOptions,
  type PlacedBlock,
  type PlacedPart,
  readCacheControl,
  toBlockParts,
  toContent,
} from './chat-parts.ts'
import { restoreId } from './ids.ts'
import { type Block, blockSchemas, checkPart } from './schema.ts'
import { isOwnBlock, readProofText, readProven, readUnsigned } from './thinking.ts'

/** How many blocks are written at once: about a millisecond's work. */
const writtenAtOnce = 256

/** The blocks of an earlier answer that one chat message can hold. */
interface Segment {
  readonly thinking: object[]
  readonly parts: PlacedPart[]
  readonly calls: PlacedCall[]
  /** A block behind the latest part is not a part itself. */
  hasGap: boolean
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
export function* toAssistantMessages(
  blocks: readonly PlacedBlock[],
  path: string,
  options: ConversationOptions,
): Steps<MadeMessage[]> {
  const { target } = options
  const proofs = blocks.flatMap(({ block }): ReturnedProof[] => {
    const text = readProofText(block)
    const proof = text === undefined ? undefined : options.proofs.read(text)
    if (proof) return [withShownText(proof, block)]
    const unsigned = readUnsigned(block)
    return unsigned === undefined ? [] : [toTextProof(unsigned)]
  })
  const isWhole = target.ignoresUnknown && proofs.some(({ content }) => content)
  const segments: Segment[] = [newSegment()]
  for (const [index, { block, path: place }] of blocks.entries()) {
    if (index % writtenAtOnce === writtenAtOnce - 1) yield
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
    else addParts(segment, toBlockParts(block, place, target))
    // The text of the vendor's own blocks must stay the same.
    if (isLeftOut(block) && !isWhole) segment.hasGap = true
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

/** The text of the reasoning is in the block, which carries the rest as its signature. */
function withShownText(proof: Proof, { thinking }: Block): Proof {
  if (!proof.past || typeof thinking !== 'string') return proof
  return { ...proof, past: proof.past.map((one) => ({ ...one, text: one.text ?? thinking })) }
}

function newSegment(): Segment {
  return { thinking: [], parts: [], calls: [], hasGap: false }
}

function addParts(segment: Segment, [first, ...others]: readonly PlacedPart[]): void {
  if (!first) return
  segment.parts.push({ ...first, isApart: segment.hasGap }, ...others)
  segment.hasGap = false
}

/** Whether a block of an answer does not become a part of the message. */
function isLeftOut(block: Block): boolean {
  return !partTypes.has(block.type) && !isOwnBlock(block)
}

/** The types of which `toBlockParts` makes parts. */
const partTypes: ReadonlySet<string> = new Set([
  'text',
  'image',
  'document',
  'search_result',
  'tool_reference',
])

/** A text may be split where it cites a source, but two around another block stand on their own. */
function joinAnswer(parts: readonly PlacedPart[]): string {
  return parts
    .map(({ part, isApart }, index) => `${isApart && index > 0 ? '\n\n' : ''}${part.text ?? ''}`)
    .join('')
}

function toCall(
  block: Block,
  path: string,
  { target, readInput }: ConversationOptions,
): PlacedCall {
  const { id, name } = checkPart(blockSchemas.tool_use, block, path)
  const called = { name, arguments: readInput(`${path}.input`) }
  return {
    path,
    call: {
      id: restoreId(id),
      type: 'function',
      function: called,
      ...readCacheControl(block, target),
    },
  }
}

function toMessage({ thinking, parts, calls }: Segment, target: ChatTarget): ChatMessage {
  const content: string | ContentPart[] | null =
    parts.length === 0 ? null : toContent(parts, target, joinAnswer)
  return {
    role: 'assistant',
    content,
    ...(thinking.length > 0 && { thinking_blocks: thinking }),
    ...(calls.length > 0 && { tool_calls: calls.map(({ call }) => call) }),
  }
}
