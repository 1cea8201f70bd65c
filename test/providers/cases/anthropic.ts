import type { ChatContractCase, ScriptedAnswer, StreamScript } from '../contract-case.ts'

export const anthropic: ChatContractCase = {
  kind: 'anthropic',
  upstreamId: 'claude-sonnet-4-5',
  remoteImages: true,
  reasoning: true,
  jsonSchema: true,
  dropped: { field: 'logit_bias', value: { 50256: -100 } },
  script: {
    answer: (said) => ({
      ...message(said),
      content: toBlocks(said),
      stop_reason: stopReasons[said.finish],
      usage: said.usage && {
        input_tokens: said.usage.prompt,
        output_tokens: said.usage.completion,
      },
    }),
    events,
    error: (status, text) => ({
      type: 'error',
      error: { type: errorTypes[status] ?? 'api_error', message: text },
      request_id: 'req_1',
    }),
    streamError: (text) => event('error', { error: { type: 'overloaded_error', message: text } }),
  },
}

const stopReasons = { stop: 'end_turn', length: 'max_tokens', tool_calls: 'tool_use' } as const

const errorTypes: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  429: 'rate_limit_error',
}

/** One event in the vendor's format. */
export function event(type: string, fields: object = {}): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`
}

function message({ usage }: ScriptedAnswer): object {
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-4-5-20250929',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    ...(usage && { usage: { input_tokens: usage.prompt, output_tokens: 1 } }),
  }
}

function toBlocks({ text, reasoning, calls = [] }: ScriptedAnswer): object[] {
  return [
    ...(reasoning === undefined
      ? []
      : [{ type: 'thinking', thinking: reasoning, signature: 'c2ln' }]),
    ...(text ? [{ type: 'text', text: text.join(''), citations: null }] : []),
    ...calls.map(({ id, name, arguments: input }) => ({ type: 'tool_use', id, name, input })),
  ]
}

function events(said: ScriptedAnswer): StreamScript {
  const { text, reasoning, calls = [], finish, usage } = said
  const blocks = [
    ...(reasoning === undefined
      ? []
      : [
          {
            start: { type: 'thinking', thinking: '', signature: '' },
            deltas: [
              { type: 'thinking_delta', thinking: reasoning },
              { type: 'signature_delta', signature: 'c2ln' },
            ],
          },
        ]),
    ...(text
      ? [
          {
            start: { type: 'text', text: '' },
            deltas: text.map((piece) => ({ type: 'text_delta', text: piece })),
          },
        ]
      : []),
    ...calls.map(({ id, name, arguments: input }) => ({
      start: { type: 'tool_use', id, name, input: {} },
      deltas: fragments(input).map((piece) => ({ type: 'input_json_delta', partial_json: piece })),
    })),
  ]
  return {
    opening: [event('message_start', { message: message(said) }), event('ping')],
    content: blocks.flatMap(({ start, deltas }, index) => [
      event('content_block_start', { index, content_block: start }),
      ...deltas.map((delta) => event('content_block_delta', { index, delta })),
      event('content_block_stop', { index }),
    ]),
    end: [
      event('message_delta', {
        delta: { stop_reason: stopReasons[finish], stop_sequence: null },
        ...(usage && { usage: { output_tokens: usage.completion } }),
      }),
      event('message_stop'),
    ],
  }
}

/** Splits arguments into pieces after an empty one; empty arguments are only the empty piece. */
function fragments(input: object): string[] {
  const text = JSON.stringify(input)
  return text === '{}' ? [''] : ['', text.slice(0, 4), text.slice(4)]
}
