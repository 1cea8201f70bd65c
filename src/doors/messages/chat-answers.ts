import type { ContentPart } from '../../core/chat.ts'
import type { JsonObject } from '../choice.ts'
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
import { type Proof, type ProvenBlock, readProof, readProven } from './thinking.ts'

/** The blocks of an earlier answer that one chat message can hold. */
interface Segment {
  readonly thinking: ProvenBlock[]
  readonly parts: PlacedPart[]
  readonly calls: PlacedCall[]
  /** The proof of the text. */
  extra?: JsonObject | undefined
}

interface PlacedCall {
  readonly call: Readonly<Record<string, unknown>>
  readonly path: string
}

/**
 * Writes an earlier answer. Thinking goes only to models that check its proof, and has to stay in its
 * place: thinking behind a text or a call begins another message, which the vendor's turn joins again.
 */
export function toAssistantMessages(
  blocks: readonly PlacedBlock[],
  path: string,
  options: ConversationOptions,
): PlacedMessage[] {
  const { target } = options
  const segments: Segment[] = [newSegment()]
  /** That of the next call. */
  let proof: JsonObject | undefined
  for (const { block, path: place } of blocks) {
    let segment = segments.at(-1) as Segment
    const thinking = target.takesThinkingBlocks ? readProven(block) : undefined
    if (thinking && segment.parts.length + segment.calls.length > 0) {
      segment = newSegment()
      segments.push(segment)
    }
    const { call, message } = (target.ignoresUnknown && readProof(block)) || noProof
    if (message) segment.extra = message
    if (call) proof = call
    if (thinking) segment.thinking.push(thinking)
    else if (block.type === 'tool_use') {
      segment.calls.push(toCall(block, place, { ...options, proof }))
      proof = undefined
    } else segment.parts.push(...toBlockParts(block, place, target))
  }
  return segments.flatMap((segment) => toMessage(segment, path, target))
}

const noProof: Proof = Object.freeze({})

function newSegment(): Segment {
  return { thinking: [], parts: [], calls: [] }
}

function toCall(
  block: Block,
  path: string,
  { target, readInput, proof }: ConversationOptions & { readonly proof: JsonObject | undefined },
): PlacedCall {
  const { id, name } = checkPart(blockSchemas.tool_use, block, path)
  const called = { name, arguments: readInput(`${path}.input`) }
  const call = {
    id,
    type: 'function',
    function: called,
    ...readMark(block, target),
    ...(proof && { extra_content: proof }),
  }
  return { path, call }
}

function toMessage(
  { thinking, parts, calls, extra }: Segment,
  path: string,
  target: ChatTarget,
): PlacedMessage[] {
  if (parts.length + calls.length === 0) return []
  // A text may be split where it cites a source.
  const content: string | ContentPart[] | null =
    parts.length === 0 ? null : toContent(parts, target, (texts) => texts.join(''))
  const message = {
    role: 'assistant',
    content,
    ...(thinking.length > 0 && { thinking_blocks: thinking }),
    ...(calls.length > 0 && { tool_calls: calls.map(({ call }) => call) }),
    ...(extra && { extra_content: extra }),
  }
  return [
    {
      message,
      path,
      parts: parts.map((part) => part.path),
      calls: calls.map((call) => call.path),
    },
  ]
}
