import { randomUUID } from 'node:crypto'
import { type Answer, hasCalls, type Part } from '../conversation.ts'
import { type Reply, sseFrame } from '../dialect.ts'
import { splitJson, splitText } from '../parts.ts'
import { signThoughts, veil } from '../proofs.ts'
import type { AssistantBlock, MessagesRequest } from './request.ts'

type Message = ReturnType<typeof toMessage>

/** The whole answer. */
export function toMessage({ model, thinking }: MessagesRequest, given: Answer) {
  return {
    id: `msg_${randomUUID().replaceAll('-', '')}`,
    type: 'message',
    role: 'assistant',
    model,
    content: toBlocks(given.parts, isOmitted(thinking)),
    stop_reason: hasCalls(given) ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: {
      input_tokens: given.usage.input,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      output_tokens: given.usage.output,
      service_tier: 'standard',
    },
  }
}

/** Sends a message whole, or as a stream. */
export function toReply({ model, stream }: MessagesRequest, message: Message): Reply {
  if (!stream) return { kind: 'whole', model, body: message }
  const contentType = 'text/event-stream; charset=utf-8'
  return { kind: 'stream', model, contentType, frames: toFrames(message) }
}

/** A client may ask for the proof without the text. */
function isOmitted(thinking: MessagesRequest['thinking']): boolean {
  return thinking !== undefined && 'display' in thinking && thinking.display === 'omitted'
}

function toBlocks(parts: readonly Part[], omitsThoughts: boolean): AssistantBlock[] {
  return parts.map((part, index): AssistantBlock => {
    switch (part.kind) {
      case 'reasoning': {
        const text = omitsThoughts ? '' : part.text
        const signature = signThoughts(text, parts[index + 1]?.kind === 'veiled')
        return { type: 'thinking', thinking: text, signature }
      }
      case 'veiled':
        return { type: 'redacted_thinking', data: veil() }
      case 'text':
        return { type: 'text', text: part.text }
      case 'call': {
        const id = part.id.replace('call_', 'toolu_')
        return { type: 'tool_use', id, name: part.name, input: { ...part.input } }
      }
      default:
        return part satisfies never
    }
  })
}

function toFrames({ content, stop_reason, usage, ...head }: Message): string[] {
  const frame = (type: string, fields: object) => sseFrame({ type, ...fields }, type)
  const start = { ...head, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } }
  return [
    frame('message_start', { message: start }),
    frame('ping', {}),
    ...content.flatMap((block, index) => [
      frame('content_block_start', { index, content_block: toEmpty(block) }),
      ...toDeltas(block).map((delta) => frame('content_block_delta', { index, delta })),
      frame('content_block_stop', { index }),
    ]),
    frame('message_delta', {
      delta: { stop_reason, stop_sequence: null },
      usage: { output_tokens: usage.output_tokens },
    }),
    frame('message_stop', {}),
  ]
}

function toEmpty(block: AssistantBlock): AssistantBlock {
  switch (block.type) {
    case 'thinking':
      return { ...block, thinking: '', signature: '' }
    case 'text':
      return { ...block, text: '' }
    case 'tool_use':
      return { ...block, input: {} }
    case 'redacted_thinking':
      return block
    default:
      return block satisfies never
  }
}

function toDeltas(block: AssistantBlock): object[] {
  switch (block.type) {
    case 'thinking':
      return [
        ...splitText(block.thinking).map((text) => ({ type: 'thinking_delta', thinking: text })),
        { type: 'signature_delta', signature: block.signature },
      ]
    case 'text':
      return splitText(block.text).map((text) => ({ type: 'text_delta', text }))
    case 'tool_use':
      return ['', ...splitJson(block.input)].map((piece) => ({
        type: 'input_json_delta',
        partial_json: piece,
      }))
    case 'redacted_thinking':
      return []
    default:
      return block satisfies never
  }
}
