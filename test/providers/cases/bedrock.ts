import { awsEvent, awsException } from '../../support/aws-event-stream.ts'
import type { ChatContractCase, ScriptedAnswer, StreamScript } from '../contract-case.ts'

export const bedrock: ChatContractCase = {
  kind: 'bedrock',
  upstreamId: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
  remoteImages: false,
  reasoning: true,
  jsonSchema: true,
  dropped: { field: 'logit_bias', value: { 50256: -100 } },
  script: {
    answer: (said) => ({
      output: { message: { role: 'assistant', content: toBlocks(said) } },
      stopReason: stopReasons[said.finish],
      ...toUsage(said),
    }),
    events,
    contentType: 'application/vnd.amazon.eventstream',
    error: (status, message) => ({ __type: errorTypes[status], message }),
    streamError: (message) => awsException('serviceUnavailableException', { message }),
  },
}

const stopReasons = { stop: 'end_turn', length: 'max_tokens', tool_calls: 'tool_use' } as const

const errorTypes: Readonly<Record<number, string>> = {
  400: 'ValidationException',
  401: 'UnrecognizedClientException',
  403: 'AccessDeniedException',
  429: 'ThrottlingException',
  500: 'InternalServerException',
  503: 'ServiceUnavailableException',
}

function toUsage({ usage }: ScriptedAnswer): object {
  if (!usage) return { metrics: { latencyMs: 9 } }
  const { prompt: inputTokens, completion: outputTokens } = usage
  const totalTokens = inputTokens + outputTokens
  return { usage: { inputTokens, outputTokens, totalTokens }, metrics: { latencyMs: 9 } }
}

function toBlocks({ text, reasoning, calls = [] }: ScriptedAnswer): object[] {
  return [
    ...(reasoning === undefined
      ? []
      : [{ reasoningContent: { reasoningText: { text: reasoning, signature: 'c2ln' } } }]),
    ...(text ? text.map((piece) => ({ text: piece })) : []),
    ...calls.map(({ id, name, arguments: input }) => ({
      toolUse: { toolUseId: id, name, input },
    })),
  ]
}

interface Block {
  /** Only calls begin with a start event. */
  readonly start?: object
  readonly deltas: readonly object[]
}

function events(said: ScriptedAnswer): StreamScript {
  const { text, reasoning, calls = [], finish } = said
  const blocks: readonly Block[] = [
    ...(reasoning === undefined
      ? []
      : [
          {
            deltas: [
              { reasoningContent: { text: reasoning } },
              { reasoningContent: { signature: 'c2ln' } },
            ],
          },
        ]),
    ...(text ? [{ deltas: text.map((piece) => ({ text: piece })) }] : []),
    ...calls.map(({ id, name, arguments: input }) => ({
      start: { toolUse: { toolUseId: id, name } },
      deltas: fragments(input).map((piece) => ({ toolUse: { input: piece } })),
    })),
  ]
  return {
    opening: [awsEvent('messageStart', { role: 'assistant', p: 'abcdef' })],
    content: blocks.flatMap(({ start, deltas }, contentBlockIndex) => [
      ...(start ? [awsEvent('contentBlockStart', { contentBlockIndex, start, p: 'ab' })] : []),
      ...deltas.map((delta) =>
        awsEvent('contentBlockDelta', { contentBlockIndex, delta, p: 'abcdefghijkl' }),
      ),
      awsEvent('contentBlockStop', { contentBlockIndex, p: 'abc' }),
    ]),
    end: [
      awsEvent('messageStop', { stopReason: stopReasons[finish], p: 'abcd' }),
      awsEvent('metadata', { ...toUsage(said), p: 'abcde' }),
    ],
  }
}

/** Splits arguments into pieces; empty arguments have no piece. */
function fragments(input: object): string[] {
  const text = JSON.stringify(input)
  return text === '{}' ? [] : ['', text.slice(0, 4), text.slice(4)]
}
