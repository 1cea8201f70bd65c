import { awsEvent } from '../../support/aws-event-stream.ts'
import { type Responder, stream, whole } from '../../support/scripted-upstream.ts'
import { anthropicGateway, event, message } from '../anthropic/support.ts'
import { answered, bedrockGateway, streamed } from '../bedrock/support.ts'

/** A content block in the form of the Messages API. The input of a call is JSON text. */
export type Said =
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | { readonly type: 'redacted_thinking'; readonly data: string }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly input: string }

export interface Setup {
  /** The model's id at Anthropic. */
  readonly model?: string
  readonly strict?: boolean
}

/** An API that serves Claude models, behind one interface for the tests. */
export interface ClaudeFamily {
  readonly name: string
  gateway(setup: Setup): ReturnType<typeof anthropicGateway>
  /** Responds with a JSON answer of these blocks. */
  whole(content: readonly Said[]): Responder
  streamed(content: readonly Said[]): Responder
  /** Returns the assistant turns of a request, in the form of the Messages API. */
  assistantTurns(body: unknown): readonly (readonly object[])[]
  /** Returns the `thinking` field of a request. */
  thinking(body: unknown): unknown
}

export const families: readonly ClaudeFamily[] = [
  {
    name: 'anthropic',
    gateway: ({ model = 'claude-sonnet-4-5', strict = false }) =>
      anthropicGateway({ upstreamId: model, settings: `strict = ${strict}` }),
    whole: (content) => whole(raw(message(content.map(anthropicBlock)))),
    streamed: (content) =>
      stream([
        event('message_start', { message: { ...message([]), id: 'msg_1' } }),
        ...content.flatMap(anthropicEvents),
        event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 9 } }),
        event('message_stop'),
      ]),
    assistantTurns: (body) =>
      (body as { messages: { role: string; content: object[] }[] }).messages
        .filter(({ role }) => role === 'assistant')
        .map(({ content }) => content),
    thinking: (body) => (body as { thinking?: unknown }).thinking,
  },
  {
    name: 'bedrock',
    gateway: ({ model = 'claude-sonnet-4-5', strict = false }) =>
      bedrockGateway({ upstreamId: `us.anthropic.${model}-v1:0`, strict }),
    whole: (content) => whole(raw(answered(content.map(converseBlock)))),
    streamed: (content) =>
      streamed([
        awsEvent('messageStart', { role: 'assistant' }),
        ...content.flatMap(converseEvents),
        awsEvent('messageStop', { stopReason: 'end_turn' }),
        awsEvent('metadata', { usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 } }),
      ]),
    assistantTurns: (body) =>
      (body as { messages: { role: string; content: ConverseBlock[] }[] }).messages
        .filter(({ role }) => role === 'assistant')
        .map(({ content }) => content.map(anthropicWords)),
    thinking: (body) =>
      (body as { additionalModelRequestFields?: { thinking?: unknown } })
        .additionalModelRequestFields?.thinking,
  },
]

const mark = 'raw input:'

/** Writes JSON with the inputs of calls inserted verbatim. */
function raw(value: object): string {
  return JSON.stringify(value).replace(
    new RegExp(`"${mark}((?:[^"\\\\]|\\\\.)*)"`, 'g'),
    (_, text) => JSON.parse(`"${text}"`),
  )
}

function anthropicBlock(said: Said): object {
  return said.type === 'tool_use' ? { ...said, name: 'f', input: mark + said.input } : said
}

function anthropicEvents(said: Said, index: number): string[] {
  return [
    event('content_block_start', { index, content_block: opening(said) }),
    ...deltas(said).map((delta) => event('content_block_delta', { index, delta })),
    event('content_block_stop', { index }),
  ]
}

function opening(said: Said): object {
  switch (said.type) {
    case 'thinking':
      return { type: 'thinking', thinking: '', signature: '' }
    case 'redacted_thinking':
      return said
    case 'text':
      return { type: 'text', text: '' }
    case 'tool_use':
      return { type: 'tool_use', id: said.id, name: 'f', input: {} }
  }
}

function deltas(said: Said): object[] {
  switch (said.type) {
    case 'thinking':
      return [
        ...halves(said.thinking).map((thinking) => ({ type: 'thinking_delta', thinking })),
        { type: 'signature_delta', signature: said.signature },
      ]
    case 'redacted_thinking':
      return []
    case 'text':
      return halves(said.text).map((text) => ({ type: 'text_delta', text }))
    case 'tool_use':
      return halves(said.input).map((piece) => ({ type: 'input_json_delta', partial_json: piece }))
  }
}

interface ConverseBlock {
  readonly text?: string
  readonly toolUse?: { readonly toolUseId: string; readonly input: unknown }
  readonly reasoningContent?: {
    readonly reasoningText?: { readonly text: string; readonly signature: string }
    readonly redactedContent?: string
  }
}

function converseBlock(said: Said): object {
  switch (said.type) {
    case 'thinking': {
      const { thinking: text, signature } = said
      return { reasoningContent: { reasoningText: { text, ...(signature && { signature }) } } }
    }
    case 'redacted_thinking':
      return { reasoningContent: { redactedContent: said.data } }
    case 'text':
      return { text: said.text }
    case 'tool_use':
      return { toolUse: { toolUseId: said.id, name: 'f', input: mark + said.input } }
  }
}

function converseEvents(said: Said, contentBlockIndex: number): Uint8Array[] {
  const delta = (piece: object) =>
    awsEvent('contentBlockDelta', { contentBlockIndex, delta: piece })
  const opened =
    said.type === 'tool_use'
      ? [
          awsEvent('contentBlockStart', {
            contentBlockIndex,
            start: { toolUse: { toolUseId: said.id, name: 'f' } },
          }),
        ]
      : []
  return [
    ...opened,
    ...converseDeltas(said).map(delta),
    awsEvent('contentBlockStop', { contentBlockIndex }),
  ]
}

function converseDeltas(said: Said): object[] {
  switch (said.type) {
    case 'thinking':
      return [
        ...halves(said.thinking).map((text) => ({ reasoningContent: { text } })),
        ...halves(said.signature).map((signature) => ({ reasoningContent: { signature } })),
      ]
    case 'redacted_thinking':
      return [{ reasoningContent: { redactedContent: said.data } }]
    case 'text':
      return halves(said.text).map((text) => ({ text }))
    case 'tool_use':
      return halves(said.input).map((input) => ({ toolUse: { input } }))
  }
}

function anthropicWords({ text, toolUse, reasoningContent }: ConverseBlock): object {
  if (text !== undefined) return { type: 'text', text }
  if (toolUse) return { type: 'tool_use', id: toolUse.toolUseId, name: 'f', input: toolUse.input }
  const { reasoningText, redactedContent } = reasoningContent ?? {}
  return reasoningText
    ? { type: 'thinking', thinking: reasoningText.text, signature: reasoningText.signature }
    : { type: 'redacted_thinking', data: redactedContent }
}

function halves(text: string): string[] {
  const middle = Math.ceil(text.length / 2)
  return [text.slice(0, middle), text.slice(middle)].filter((half) => half !== '')
}
