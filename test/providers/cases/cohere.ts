import type {
  ChatContractCase,
  ScriptedAnswer,
  ScriptedCall,
  StreamScript,
} from '../contract-case.ts'

export const cohere: ChatContractCase = {
  kind: 'cohere',
  upstreamId: 'command-a-03-2025',
  remoteImages: true,
  reasoning: true,
  jsonSchema: true,
  dropped: { field: 'logit_bias', value: { 50256: -100 } },
  script: {
    answer: (said) => ({
      id: 'co-1',
      finish_reason: finishReasons[said.finish],
      message: {
        role: 'assistant',
        ...(said.calls && { tool_plan: said.text?.join(''), tool_calls: said.calls.map(toCall) }),
        ...(!said.calls && { content: toBlocks(said) }),
      },
      ...toUsage(said),
    }),
    events,
    error: (_, message) => ({ id: 'e-1', message }),
    streamError: (error) => event('message-end', { delta: { finish_reason: 'ERROR', error } }),
  },
}

const finishReasons = { stop: 'COMPLETE', length: 'MAX_TOKENS', tool_calls: 'TOOL_CALL' } as const

/** One event in the vendor's format. */
export function event(type: string, fields: object = {}): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`
}

/** An event whose payload is a piece of the message. */
export function piece(type: string, message: object, fields: object = {}): string {
  return event(type, { ...fields, delta: { message } })
}

function toCall({ id, name, arguments: input }: ScriptedCall): object {
  return { id, type: 'function', function: { name, arguments: JSON.stringify(input) } }
}

function toBlocks({ text = [], reasoning }: ScriptedAnswer): object[] {
  return [
    ...(reasoning === undefined ? [] : [{ type: 'thinking', thinking: reasoning }]),
    { type: 'text', text: text.join('') },
  ]
}

function toUsage({ usage }: ScriptedAnswer): object {
  if (!usage) return {}
  const tokens = { input_tokens: usage.prompt, output_tokens: usage.completion }
  return { usage: { billed_units: tokens, tokens } }
}

function events(said: ScriptedAnswer): StreamScript {
  const { text = [], reasoning, calls } = said
  const end = { finish_reason: finishReasons[said.finish], ...toUsage(said) }
  return {
    opening: [
      event('message-start', {
        id: 'co-1',
        delta: {
          message: { role: 'assistant', content: [], tool_plan: '', tool_calls: [], citations: [] },
        },
      }),
    ],
    content: [
      ...(reasoning === undefined ? [] : block(0, 'thinking', [reasoning])),
      // Besides calls the model writes a plan but no text.
      ...(calls
        ? text.map((tool_plan) => piece('tool-plan-delta', { tool_plan }))
        : block(reasoning === undefined ? 0 : 1, 'text', text)),
      ...(calls ?? []).flatMap(callEvents),
    ],
    end: [event('message-end', { delta: end })],
  }
}

function block(index: number, type: 'text' | 'thinking', texts: readonly string[]): string[] {
  return [
    piece('content-start', { content: { type, [type]: '' } }, { index }),
    ...texts.map((text) => piece('content-delta', { content: { [type]: text } }, { index })),
    event('content-end', { index }),
  ]
}

function callEvents({ id, name, arguments: input }: ScriptedCall, index: number): string[] {
  const opened = { id, type: 'function', function: { name, arguments: '' } }
  return [
    piece('tool-call-start', { tool_calls: opened }, { index }),
    ...fragments(input).map((text) =>
      piece('tool-call-delta', { tool_calls: { function: { arguments: text } } }, { index }),
    ),
    event('tool-call-end', { index }),
  ]
}

/** Splits arguments into fragments; empty arguments have none. */
function fragments(input: object): string[] {
  const text = JSON.stringify(input)
  return text === '{}' ? [] : [text.slice(0, 4), text.slice(4)]
}
