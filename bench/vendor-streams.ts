import { awsEvent } from '../test/support/aws-event-stream.ts'
import { answerText, streamedWords, type translatedKinds } from './scenarios.ts'

const encoder = new TextEncoder()

/** The stream of a vendor with its own API, with the same content as the OpenAI stream. */
export interface VendorStream {
  /** A part of the path that only this vendor's requests have. */
  readonly path: string
  /** A model name of the vendor. */
  readonly model: string
  readonly contentType: string
  readonly events: () => readonly Uint8Array[]
  /** The answer to a request without `stream`, where the bench asks for it. */
  readonly answer?: object
}

const claudeMessage = {
  id: 'msg_bench',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content: [],
  usage: { input_tokens: 21, output_tokens: 34 },
}

/** Streams by the kind of provider. */
export const vendorStreams: Readonly<Record<(typeof translatedKinds)[number], VendorStream>> = {
  anthropic: {
    path: '/v1/messages',
    model: 'claude-sonnet-4-5',
    contentType: 'text/event-stream; charset=utf-8',
    events: anthropicEvents,
    answer: {
      ...claudeMessage,
      content: [{ type: 'text', text: answerText }],
      stop_reason: 'end_turn',
      stop_sequence: null,
    },
  },
  google: {
    path: 'enerateContent',
    model: 'gemini-2.5-flash',
    contentType: 'text/event-stream',
    events: geminiEvents,
    answer: {
      candidates: [
        {
          content: { parts: [{ text: answerText }], role: 'model' },
          finishReason: 'STOP',
          index: 0,
        },
      ],
      usageMetadata: { promptTokenCount: 21, candidatesTokenCount: 34, totalTokenCount: 55 },
      modelVersion: 'gemini-2.5-flash',
      responseId: 'bench',
    },
  },
  bedrock: {
    path: '/converse-stream',
    model: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
    contentType: 'application/vnd.amazon.eventstream',
    events: converseEvents,
  },
  cohere: {
    path: '/v2/chat',
    model: 'command-a-03-2025',
    contentType: 'text/event-stream',
    events: cohereEvents,
  },
}

function anthropicEvents(): Uint8Array[] {
  return [
    event('message_start', { message: claudeMessage }),
    event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    ...streamedWords.map((text) =>
      event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
    ),
    event('content_block_stop', { index: 0 }),
    event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 34 } }),
    event('message_stop', {}),
  ]
}

function geminiEvents(): Uint8Array[] {
  return streamedWords.map((text, index) => {
    const isLast = index === streamedWords.length - 1
    const content = { parts: [{ text }], role: 'model' }
    const response = {
      candidates: [{ content, ...(isLast && { finishReason: 'STOP' }), index: 0 }],
      // Running totals.
      usageMetadata: {
        promptTokenCount: 21,
        candidatesTokenCount: index + 1,
        totalTokenCount: index + 22,
        promptTokensDetails: [{ modality: 'TEXT', tokenCount: 21 }],
      },
      modelVersion: 'gemini-2.5-flash',
      responseId: 'bench',
    }
    return encoder.encode(`data: ${JSON.stringify(response)}\r\n\r\n`)
  })
}

function converseEvents(): Uint8Array[] {
  const usage = { inputTokens: 21, outputTokens: 34, totalTokens: 55 }
  return [
    awsEvent('messageStart', { role: 'assistant' }),
    ...streamedWords.map((text) =>
      // The service pads events with a varying number of letters to hide the length of a text.
      awsEvent('contentBlockDelta', { contentBlockIndex: 0, delta: { text }, p: 'abcdefghijklm' }),
    ),
    awsEvent('contentBlockStop', { contentBlockIndex: 0 }),
    awsEvent('messageStop', { stopReason: 'end_turn' }),
    awsEvent('metadata', { usage, metrics: { latencyMs: 1 } }),
  ]
}

function cohereEvents(): Uint8Array[] {
  const content = (more: object) => ({ index: 0, delta: { message: { content: more } } })
  const tokens = { input_tokens: 21, output_tokens: 34 }
  return [
    event('message-start', { id: 'bench', delta: { message: { role: 'assistant' } } }),
    event('content-start', content({ type: 'text', text: '' })),
    ...streamedWords.map((text) => event('content-delta', content({ text }))),
    event('content-end', { index: 0 }),
    event('message-end', { delta: { finish_reason: 'COMPLETE', usage: { tokens } } }),
  ]
}

function event(type: string, fields: object): Uint8Array {
  return encoder.encode(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`)
}
