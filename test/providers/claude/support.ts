import { awsEvent } from '../../support/aws-event-stream.ts'
import { type Responder, stream, whole } from '../../support/scripted-upstream.ts'
import { anthropicGateway, event, message } from '../anthropic/support.ts'
import { answered, bedrockGateway, streamed } from '../bedrock/support.ts'

/** A content block in the form of the Messages API. The input of a call is JSON text. */
export type AnswerBlock =
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
  whole(content: readonly AnswerBlock[]): Responder
  streamed(content: readonly AnswerBlock[]): Responder
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
    whole: (content) => whole(raw(message(content.map(toAnthropicBlock)))),
    streamed: (content) =>
      stream([
        event('message_start', { message: { ...message([]), id: 'msg_1' } }),
        ...content.flatMap(toAnthropicEvents),
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
    whole: (content) => whole(raw(answered(content.map(toConverseBlock)))),
    streamed: (content) =>
      streamed([
        awsEvent('messageStart', { role: 'assistant' }),
        ...content.flatMap(toConverseEvents),
        awsEvent('messageStop', { stopReason: 'end_turn' }),
        awsEvent('metadata', { usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 } }),
      ]),
    assistantTurns: (body) =>
      (body as { messages: { role: string; content: ConverseBlock[] }[] }).messages
        .filter(({ role }) => role === 'assistant')
        .map(({ content }) => content.map(fromConverseBlock)),
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

function toAnthropicBlock(block: AnswerBlock): object {
  return block.type === 'tool_use' ? { ...block, name: 'f', input: mark + block.input } : block
}

function toAnthropicEvents(block: AnswerBlock, index: number): string[] {
  return [
    event('content_block_start', { index, content_block: toBlockStart(block) }),
    ...toDeltas(block).map((delta) => event('content_block_delta', { index, delta })),
    event('content_block_stop', { index }),
  ]
}

function toBlockStart(block: AnswerBlock): object {
  switch (block.type) {
    case 'thinking':
      return { type: 'thinking', thinking: '', signature: '' }
    case 'redacted_thinking':
      return block
    case 'text':
      return { type: 'text', text: '' }
    case 'tool_use':
      return { type: 'tool_use', id: block.id, name: 'f', input: {} }
  }
}

function toDeltas(block: AnswerBlock): object[] {
  switch (block.type) {
    case 'thinking':
      return [
        ...splitInHalves(block.thinking).map((thinking) => ({ type: 'thinking_delta', thinking })),
        { type: 'signature_delta', signature: block.signature },
      ]
    case 'redacted_thinking':
      return []
    case 'text':
      return splitInHalves(block.text).map((text) => ({ type: 'text_delta', text }))
    case 'tool_use':
      return splitInHalves(block.input).map((piece) => ({
        type: 'input_json_delta',
        partial_json: piece,
      }))
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

function toConverseBlock(block: AnswerBlock): object {
  switch (block.type) {
    case 'thinking': {
      const { thinking: text, signature } = block
      return { reasoningContent: { reasoningText: { text, ...(signature && { signature }) } } }
    }
    case 'redacted_thinking':
      return { reasoningContent: { redactedContent: block.data } }
    case 'text':
      return { text: block.text }
    case 'tool_use':
      return { toolUse: { toolUseId: block.id, name: 'f', input: mark + block.input } }
  }
}

function toConverseEvents(block: AnswerBlock, contentBlockIndex: number): Uint8Array[] {
  const delta = (piece: object) =>
    awsEvent('contentBlockDelta', { contentBlockIndex, delta: piece })
  const opened =
    block.type === 'tool_use'
      ? [
          awsEvent('contentBlockStart', {
            contentBlockIndex,
            start: { toolUse: { toolUseId: block.id, name: 'f' } },
          }),
        ]
      : []
  return [
    ...opened,
    ...toConverseDeltas(block).map(delta),
    awsEvent('contentBlockStop', { contentBlockIndex }),
  ]
}

function toConverseDeltas(block: AnswerBlock): object[] {
  switch (block.type) {
    case 'thinking':
      return [
        ...splitInHalves(block.thinking).map((text) => ({ reasoningContent: { text } })),
        ...splitInHalves(block.signature).map((signature) => ({ reasoningContent: { signature } })),
      ]
    case 'redacted_thinking':
      return [{ reasoningContent: { redactedContent: block.data } }]
    case 'text':
      return splitInHalves(block.text).map((text) => ({ text }))
    case 'tool_use':
      return splitInHalves(block.input).map((input) => ({ toolUse: { input } }))
  }
}

function fromConverseBlock({ text, toolUse, reasoningContent }: ConverseBlock): object {
  if (text !== undefined) return { type: 'text', text }
  if (toolUse) return { type: 'tool_use', id: toolUse.toolUseId, name: 'f', input: toolUse.input }
  const { reasoningText, redactedContent } = reasoningContent ?? {}
  return reasoningText
    ? { type: 'thinking', thinking: reasoningText.text, signature: reasoningText.signature }
    : { type: 'redacted_thinking', data: redactedContent }
}

function splitInHalves(text: string): string[] {
  const middle = Math.ceil(text.length / 2)
  return [text.slice(0, middle), text.slice(middle)].filter((half) => half !== '')
}
