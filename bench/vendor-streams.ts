import { awsEvent } from '../test/support/aws-event-stream.ts'

/** Frames that one network chunk holds, as vendors under load write them. */
const perChunk = 4
const encoder = new TextEncoder()
const word = 'word and '

/** The same text as each vendor would stream it, in network chunks. */
export function openAiStream(frames: number): Uint8Array[] {
  const chunk = (delta: object, finish: string | null) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_764_000_000,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: finish }],
  })
  const words = repeat(frames, () => data(chunk({ content: word }, null)))
  return inChunks([...words, data(chunk({}, 'stop')), encoder.encode('data: [DONE]\n\n')])
}

export function anthropicStream(frames: number): Uint8Array[] {
  const usage = { input_tokens: 5, output_tokens: 1 }
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [],
    usage,
  }
  const delta = { type: 'text_delta', text: word }
  return inChunks([
    event('message_start', { message }),
    event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    ...repeat(frames, () => event('content_block_delta', { index: 0, delta })),
    event('content_block_stop', { index: 0 }),
    event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 9 } }),
    event('message_stop', {}),
  ])
}

export function geminiStream(frames: number): Uint8Array[] {
  const said = (more: object) => ({
    candidates: [{ content: { role: 'model', parts: [{ text: word }] }, index: 0, ...more }],
    usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 9, totalTokenCount: 14 },
    responseId: 'r',
  })
  const words = repeat(frames, () => data(said({})))
  return inChunks([...words, data(said({ finishReason: 'STOP' }))])
}

export function cohereStream(frames: number): Uint8Array[] {
  const delta = { message: { content: { text: word } } }
  const end = {
    finish_reason: 'COMPLETE',
    usage: { tokens: { input_tokens: 5, output_tokens: 9 } },
  }
  return inChunks([
    event('message-start', { id: 'c', delta: { message: { role: 'assistant' } } }),
    event('content-start', {
      index: 0,
      delta: { message: { content: { type: 'text', text: '' } } },
    }),
    ...repeat(frames, () => event('content-delta', { index: 0, delta })),
    event('content-end', { index: 0 }),
    event('message-end', { delta: end }),
  ])
}

export function bedrockStream(frames: number): Uint8Array[] {
  const usage = { inputTokens: 5, outputTokens: 9, totalTokens: 14 }
  return inChunks([
    awsEvent('messageStart', { role: 'assistant' }),
    ...repeat(frames, () =>
      awsEvent('contentBlockDelta', { contentBlockIndex: 0, delta: { text: word } }),
    ),
    awsEvent('contentBlockStop', { contentBlockIndex: 0 }),
    awsEvent('messageStop', { stopReason: 'end_turn' }),
    awsEvent('metadata', { usage, metrics: { latencyMs: 1 } }),
  ])
}

function data(value: object): Uint8Array {
  return encoder.encode(`data: ${JSON.stringify(value)}\n\n`)
}

function event(type: string, fields: object): Uint8Array {
  return encoder.encode(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`)
}

function repeat(times: number, make: () => Uint8Array): Uint8Array[] {
  return Array.from({ length: times }, make)
}

function inChunks(events: readonly Uint8Array[]): Uint8Array[] {
  const chunks: Uint8Array[] = []
  for (let at = 0; at < events.length; at += perChunk) {
    chunks.push(new Uint8Array(Buffer.concat(events.slice(at, at + perChunk))))
  }
  return chunks
}
