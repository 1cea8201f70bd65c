import { randomBytes } from 'node:crypto'
import { isRecord } from '../json-schema.ts'
import { reasoning } from '../scenario.ts'
import {
  findId,
  findMember,
  findMessage,
  findName,
  findNeighbours,
  findStrayResult,
  findUnanswered,
  findUnlisted,
} from './find.ts'
import { chunkForm } from './form.ts'
import type { Message } from './request.ts'
import { calling, result, system, thoughts, tool, user } from './samples.ts'
import { callsFromThoughts } from './thoughts.ts'
import type { CompatibleUpstream } from './upstream.ts'

const id = 'T23456789'
const thinking = { type: 'thinking', thinking: [{ type: 'text', text: thoughts }] }
const said = { role: 'assistant', content: 'Yes.' }
const called = calling({ content: [thinking] }, id)

const validator =
  'https://github.com/mistralai/mistral-common/blob/main/src/mistral_common/protocol/instruct/validator.py'

/** Magistral: https://docs.mistral.ai/api */
export const mistral: CompatibleUpstream = {
  name: 'mistral',
  model: 'magistral-medium-latest',
  thinks: () => true,
  form: () => chunkForm,
  toId: (call) => `${call.isThought ? 'T' : 'A'}${randomBytes(4).toString('hex')}`,
  toError: ({ status, message, details }) => ({
    object: 'error',
    message,
    type: status === 429 ? 'rate_limited' : 'invalid_request_error',
    param: null,
    code: status === 429 ? '1300' : '1500',
    ...details,
  }),
  rules: [
    {
      demand: 'the body is closed',
      source: 'https://docs.mistral.ai/api/endpoint/chat',
      words: 'body.%s: Extra inputs are not permitted',
      status: 422,
      find: (body) => findUnlisted(body, members),
      breaks: { max_completion_tokens: 100 },
      keeps: { max_tokens: 100, prompt_cache_key: 'one' },
    },
    ...['reasoning_content', 'reasoning', 'reasoning_details', 'refusal'].map((name) => ({
      demand: `an answer in the history has no ${name}`,
      source: 'https://docs.mistral.ai/api/endpoint/chat',
      words: `body.messages.%s.assistant.${name}: Extra inputs are not permitted`,
      status: 422,
      find: (body: Parameters<typeof findMember>[0]) => findMember(body, name),
      breaks: { messages: [user, { ...said, [name]: thoughts }, user] },
      keeps: { messages: [user, said, user] },
    })),
    {
      demand: 'the role developer is unknown',
      source: 'https://docs.mistral.ai/api/endpoint/chat',
      words: 'body.messages.%s: Input tag does not match any of the expected tags',
      status: 422,
      find: (body) => findMessage(body, ({ role }) => !roles.has(role)),
      breaks: { messages: [{ ...system, role: 'developer' }, user] },
      keeps: { messages: [system, user] },
    },
    {
      demand: 'no user message behind a result',
      source: 'https://github.com/NousResearch/hermes-agent/issues/20154',
      words: "Unexpected role 'user' after role 'tool'",
      code: '3230',
      find: (body) => findNeighbours(body, 'tool', 'user'),
      breaks: { messages: [user, called, result(id), user] },
      keeps: { messages: [user, called, result(id), said, user] },
    },
    ...['assistant', 'tool'].map((role) => ({
      demand: `no system message behind the role ${role}`,
      source: validator,
      words: `Unexpected role 'system' after role '${role}'`,
      code: '3230',
      find: (body: Parameters<typeof findNeighbours>[0]) => findNeighbours(body, role, 'system'),
      breaks: {
        messages: role === 'tool' ? [user, called, result(id), system] : [user, said, system, user],
      },
      keeps: { messages: [system, user, said, user] },
    })),
    {
      demand: 'the last message is not an answer',
      source: validator,
      words:
        'Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant',
      code: '3230',
      find: ({ messages }) => {
        const last = messages.at(-1)
        return last?.role === 'assistant' && last['prefix'] !== true ? 0 : undefined
      },
      breaks: { messages: [user, said] },
      keeps: { messages: [user, { ...said, prefix: true }] },
    },
    {
      demand: 'ids of calls have nine letters or digits',
      source: validator,
      words: 'Tool call id was %s but must be a-z, A-Z, 0-9, with a length of 9.',
      code: '3280',
      find: (body) => findId(body, /^[a-zA-Z0-9]{9}$/),
      breaks: { messages: [user, calling(), result()] },
      keeps: { messages: [user, called, result(id)] },
    },
    {
      demand: 'as many results as calls',
      source: validator,
      words: 'Not the same number of function calls and responses',
      code: '3230',
      find: (body) => findUnanswered(body) ?? findStrayResult(body),
      breaks: { messages: [user, called, said, user] },
      keeps: { messages: [user, called, result(id)] },
    },
    {
      demand: 'names of tools have 64 letters, digits, _ and - at most',
      source: validator,
      words:
        'Function name was %s but must be a-z, A-Z, 0-9, or contain underscores and dashes, with a maximum length of 64.',
      code: '3280',
      find: (body) => findName(body, /^[a-zA-Z0-9_-]{1,64}$/),
      breaks: { tools: [tool('n'.repeat(65))] },
      keeps: { tools: [tool('n'.repeat(64))] },
    },
    {
      demand: 'an answer in the history has a content or calls',
      source: validator,
      words: 'Assistant message must have either content or tool_calls, but not none.',
      code: '3240',
      find: (body) =>
        findMessage(
          body,
          ({ role, content, tool_calls: calls }) =>
            role === 'assistant' && !content?.length && !calls?.length,
        ),
      breaks: { messages: [user, { role: 'assistant', content: '' }, user] },
      keeps: { messages: [user, said, user] },
    },
    {
      demand: 'reasoning comes back in its chunks',
      source: 'https://docs.mistral.ai/capabilities/reasoning',
      words: 'the reasoning of message %s is not that of the answer',
      effect: 'lost-proof',
      find: (body) =>
        findMessage(
          body,
          (message) => callsFromThoughts(message, isThought) && readThoughts(message) !== reasoning,
        ),
      breaks: { messages: [user, calling({}, id), result(id)] },
      keeps: { messages: [user, called, result(id)] },
    },
  ],
}

const roles = new Set(['system', 'user', 'assistant', 'tool'])

/** https://github.com/mistralai/client-ts/blob/main/src/models/components/chatcompletionrequest.ts */
const members = new Set([
  'model',
  'messages',
  'temperature',
  'top_p',
  'max_tokens',
  'stream',
  'stop',
  'random_seed',
  'metadata',
  'response_format',
  'tools',
  'tool_choice',
  'presence_penalty',
  'frequency_penalty',
  'n',
  'prediction',
  'parallel_tool_calls',
  'prompt_mode',
  'prompt_cache_key',
  'reasoning_effort',
  'guardrails',
  'safe_prompt',
])

function isThought(given: string): boolean {
  return given.startsWith('T')
}

function readThoughts({ content }: Message): string {
  const chunks = Array.isArray(content) ? content : []
  const texts = chunks.flatMap(({ thinking: inner }) => (Array.isArray(inner) ? inner : []))
  return texts.map((each) => (isRecord(each) ? String(each['text']) : '')).join('')
}
