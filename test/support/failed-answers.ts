import { chunk, completion, data, done, makeChunk, role } from './answers.ts'
import { awsEvent } from './aws-event-stream.ts'
import { json, type Responder, stream } from './scripted-upstream.ts'

/* Answers that fail, and report what they have used all the same: 9 tokens of the prompt, and 2 generated. */

export interface FailedAnswer {
  readonly name: string
  /** The provider's settings: its kind and its credential. */
  readonly provider: string
  /** The paths of the APIs that it answers. */
  readonly paths: readonly string[]
  readonly whole: Responder
  /** The same answer as a stream that fails before its first content. */
  readonly streams: Readonly<Record<string, Responder>>
}

export const chatDoors = ['/v1/chat/completions', '/v1/messages', '/v1/responses'] as const

/** Streams have another address there. */
export const geminiDoor = '/v1beta/models/m:generateContent'

const usage = { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 }
const counts = { promptTokenCount: 9, candidatesTokenCount: 2, totalTokenCount: 11 }
const responsesUsage = { input_tokens: 9, output_tokens: 2, total_tokens: 11 }
const message = { role: 'assistant', content: '' }

const failedChoice = (reason: string, more: object = {}) =>
  completion('', { choices: [{ index: 0, message, finish_reason: reason, ...more }], usage })
const chatProvider = 'kind = "openai"\nbase_url = "https://p.test"'
const error = { code: 'server_error', message: 'it failed' }
const failedResponse = { id: 'resp_1', object: 'response', status: 'failed', output: [], error }
const failedCandidate = {
  candidates: [{ index: 0, finishReason: 'MALFORMED_FUNCTION_CALL' }],
  usageMetadata: counts,
}
const cohereUsage = { tokens: { input_tokens: 9, output_tokens: 2 } }
const converseUsage = { inputTokens: 9, outputTokens: 2, totalTokens: 11 }

export const failedAnswers: readonly FailedAnswer[] = [
  {
    name: 'a finish reason of chat completions',
    provider: chatProvider,
    paths: [...chatDoors, geminiDoor],
    whole: json(failedChoice('error')),
    streams: {
      'with its usage': stream([role + chunk({}, { usage }, 'error') + done]),
      'with its usage in a chunk of its own': stream([
        role + chunk({}, {}, 'error'),
        makeChunk({ choices: [], usage }) + done,
      ]),
      'with its usage before it': stream([
        chunk({ role: 'assistant', content: '' }, { usage }) + chunk({}, {}, 'error') + done,
      ]),
      'that breaks behind its usage': stream(
        [role + chunk({}, {}, 'error') + makeChunk({ choices: [], usage })],
        { failure: { kind: 'network', reason: 'ECONNRESET' } },
      ),
    },
  },
  {
    name: 'an error in a choice of chat completions',
    provider: chatProvider,
    paths: chatDoors,
    whole: json(failedChoice('stop', { error: { code: 502, message: 'it failed' } })),
    streams: {
      'with its usage': stream([
        makeChunk({ choices: [{ index: 0, delta: {}, error: { message: 'it failed' } }], usage }),
      ]),
    },
  },
  {
    name: 'chat completions without an answer',
    provider: chatProvider,
    paths: chatDoors,
    whole: json(completion('', { choices: [], usage })),
    streams: {},
  },
  {
    name: 'a failed response',
    provider: 'kind = "openai"\napi_key_env = "P_KEY"',
    paths: ['/v1/responses'],
    whole: json({ ...failedResponse, usage: responsesUsage }),
    streams: {
      'with its usage': stream([
        `event: response.failed\n${data({
          type: 'response.failed',
          response: { ...failedResponse, usage: responsesUsage },
        })}`,
      ]),
    },
  },
  {
    name: "a finish reason of Gemini's",
    provider: 'kind = "google"\napi_key_env = "P_KEY"',
    paths: [...chatDoors, geminiDoor],
    whole: json(failedCandidate),
    streams: {
      'with its usage': stream([data(failedCandidate)]),
      'with its usage before it': stream([
        data({ usageMetadata: counts }) + data({ candidates: failedCandidate.candidates }),
      ]),
    },
  },
  {
    name: "a finish reason of Cohere's",
    provider: 'kind = "cohere"\napi_key_env = "P_KEY"',
    paths: chatDoors,
    whole: json({ id: 'c', finish_reason: 'ERROR', message: { content: [] }, usage: cohereUsage }),
    streams: {
      'with its usage': stream([
        data({ type: 'message-start', id: 'c' }) +
          data({ type: 'message-end', delta: { finish_reason: 'ERROR', usage: cohereUsage } }),
      ]),
    },
  },
  {
    name: 'a stop reason of Converse',
    provider: 'kind = "bedrock"\napi_key_env = "P_KEY"',
    paths: chatDoors,
    whole: json({
      output: { message: { role: 'assistant', content: [] } },
      stopReason: 'malformed_tool_use',
      usage: converseUsage,
    }),
    streams: {
      'with its usage': stream(
        [
          awsEvent('messageStart', { role: 'assistant' }),
          awsEvent('messageStop', { stopReason: 'malformed_tool_use' }),
          awsEvent('metadata', { usage: converseUsage }),
        ],
        { headers: { 'content-type': 'application/vnd.amazon.eventstream' } },
      ),
    },
  },
  {
    name: 'a message without content',
    provider: 'kind = "anthropic"\napi_key_env = "P_KEY"',
    paths: chatDoors,
    whole: json({
      type: 'message',
      role: 'assistant',
      content: [],
      stop_reason: null,
      usage: { input_tokens: 9, output_tokens: 2 },
    }),
    streams: {},
  },
]
