import { chunk, completion, data, done, makeChunk } from '../../support/answers.ts'
import type { ChatContractCase, ScriptedAnswer, StreamScript } from '../contract-case.ts'

export const openai: ChatContractCase = {
  kind: 'openai',
  upstreamId: 'gpt-2026',
  remoteImages: true,
  reasoning: true,
  jsonSchema: true,
  script: {
    answer: ({ text, reasoning, calls, finish, usage }) =>
      completion('', {
        choices: [
          {
            index: 0,
            message: {
              role: 'assistant',
              content: text?.join('') ?? null,
              ...(reasoning !== undefined && { reasoning_content: reasoning }),
              ...(calls && { tool_calls: calls.map(toCall) }),
            },
            finish_reason: finish,
          },
        ],
        ...(usage && { usage: toUsage(usage) }),
      }),
    events,
    error: (status, message) => ({
      error: { message, type: 'vendor_error', param: null, code: String(status) },
    }),
    streamError: (message) => data({ error: { message, type: 'server_error', code: null } }),
  },
}

function events({
  text = [],
  reasoning,
  calls = [],
  finish,
  usage,
  asked,
}: ScriptedAnswer): StreamScript {
  return {
    opening: [chunk({ role: 'assistant', content: '' })],
    content: [
      ...(reasoning === undefined ? [] : [chunk({ reasoning_content: reasoning })]),
      ...text.map((piece) => chunk({ content: piece })),
      ...calls.map((call, index) => chunk({ tool_calls: [{ index, ...toCall(call) }] })),
    ],
    end: [
      chunk({}, {}, finish),
      ...(asked && usage ? [makeChunk({ choices: [], usage: toUsage(usage) })] : []),
      done,
    ],
  }
}

function toCall({
  id,
  name,
  arguments: input,
}: NonNullable<ScriptedAnswer['calls']>[number]): object {
  return { id, type: 'function', function: { name, arguments: JSON.stringify(input) } }
}

function toUsage({ prompt, completion: output }: NonNullable<ScriptedAnswer['usage']>): object {
  return { prompt_tokens: prompt, completion_tokens: output, total_tokens: prompt + output }
}
