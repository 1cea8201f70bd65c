import { json, type Responder, stream } from './scripted-upstream.ts'

const usage = { input_tokens: 9, output_tokens: 2 }

/** A whole message of Claude. */
export function claudeMessage(text = 'Hello'): Responder {
  return json({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude',
    content: [{ type: 'text', text }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage,
  })
}

/** The same as a stream, in two pieces. */
export function claudeStream(text = 'Hello'): Responder {
  const message = { id: 'msg_1', type: 'message', role: 'assistant', content: [], usage }
  const delta = (piece: string) =>
    event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: piece } })
  return stream([
    event('message_start', { message }),
    event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    delta(text.slice(0, -1)),
    delta(text.slice(-1)),
    event('content_block_stop', { index: 0 }),
    event('message_delta', { delta: { stop_reason: 'end_turn', stop_sequence: null }, usage }),
    event('message_stop', {}),
  ])
}

function event(type: string, fields: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`
}
