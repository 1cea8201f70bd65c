import { reasoning } from '../scenario.ts'
import { findMember, findMessage, findPart, findUnlisted, listCurrentTurn } from './find.ts'
import { toMemberForm } from './form.ts'
import { calling, image, jsonSchema, result, text, thoughts, tool, user } from './samples.ts'
import { callsFromThoughts } from './thoughts.ts'
import type { CompatibleUpstream } from './upstream.ts'

const said = { role: 'assistant', content: 'Yes.' }
const reference = 'https://console.groq.com/docs/api-reference#chat-create'

/** gpt-oss on Groq: https://console.groq.com/docs/api-reference#chat-create */
export const groq: CompatibleUpstream = {
  name: 'groq',
  model: 'openai/gpt-oss-120b',
  // Never without: https://console.groq.com/docs/reasoning
  thinks: () => true,
  form: () => toMemberForm('reasoning'),
  rules: [
    {
      demand: 'an answer in the history has no reasoning_content',
      source: 'https://github.com/janhq/jan/issues/8136',
      words:
        "'messages.%s' : for 'role:assistant' the following must be satisfied[('messages.%s' : property 'reasoning_content' is unsupported)]",
      find: (body) => findMember(body, 'reasoning_content'),
      breaks: { messages: [user, { ...said, reasoning_content: thoughts }, user] },
      keeps: { messages: [user, { ...said, reasoning: thoughts }, user] },
    },
    {
      demand: 'the body is closed',
      source: reference,
      words: "property '%s' is unsupported",
      find: (body) => findUnlisted(body, members),
      breaks: { top_k: 40 },
      keeps: { top_p: 0.9 },
    },
    {
      demand: 'an answer in the history has no member that is null, apart from its content',
      source:
        'https://github.com/BerriAI/litellm/blob/main/litellm/llms/groq/chat/transformation.py',
      words: "'messages.%s' : for 'role:assistant' the following must be satisfied",
      find: (body) =>
        findMessage(
          body,
          (message) =>
            message.role === 'assistant' &&
            Object.entries(message).some(([name, value]) => name !== 'content' && value === null),
        ),
      breaks: { messages: [user, { ...said, function_call: null }, user] },
      keeps: { messages: [user, said, user] },
    },
    {
      demand: 'a content has text only, for gpt-oss',
      source: 'https://console.groq.com/docs/vision',
      words: "'messages' : content must be a string, this model does not take '%s'",
      find: (body) => findPart(body, ['text']),
      breaks: { messages: [{ role: 'user', content: [text, image] }] },
      keeps: { messages: [{ role: 'user', content: [text] }] },
    },
    {
      demand: 'an effort is a word of the list',
      source: 'https://console.groq.com/docs/reasoning',
      words: '`reasoning_effort` must be one of `low`, `medium`, or `high`, not `%s`',
      find: ({ reasoning_effort: effort }) =>
        effort === undefined || ['low', 'medium', 'high'].includes(String(effort))
          ? undefined
          : String(effort),
      breaks: { reasoning_effort: 'none' },
      keeps: { reasoning_effort: 'low' },
    },
    {
      demand: 'a schema for the answer does not go with tools',
      source: 'https://console.groq.com/docs/structured-outputs',
      words: 'json mode cannot be combined with tool/function calling',
      find: ({ response_format: format, tools }) =>
        tools?.length && format && format.type !== 'text' ? 0 : undefined,
      breaks: { response_format: jsonSchema, tools: [tool()] },
      keeps: { response_format: jsonSchema },
    },
    {
      demand: 'reasoning of the current turn comes back',
      source: 'https://console.groq.com/docs/reasoning',
      words: 'the reasoning of message %s is not that of the answer',
      effect: 'lost-proof',
      find: (body) =>
        listCurrentTurn(body).find(
          ([, message]) => callsFromThoughts(message) && message['reasoning'] !== reasoning,
        )?.[0],
      breaks: { messages: [user, calling(), result()] },
      keeps: { messages: [user, calling({ reasoning: thoughts }), result()] },
    },
  ],
}

/** https://github.com/groq/groq-typescript/blob/main/src/resources/chat/completions.ts */
const members = new Set([
  'model',
  'messages',
  'citation_options',
  'compound_custom',
  'disable_tool_validation',
  'documents',
  'exclude_domains',
  'frequency_penalty',
  'function_call',
  'functions',
  'include_domains',
  'include_reasoning',
  'logit_bias',
  'logprobs',
  'max_completion_tokens',
  'max_tokens',
  'metadata',
  'n',
  'parallel_tool_calls',
  'presence_penalty',
  'reasoning_effort',
  'reasoning_format',
  'response_format',
  'search_settings',
  'seed',
  'service_tier',
  'stop',
  'store',
  'stream',
  'stream_options',
  'temperature',
  'tool_choice',
  'tools',
  'top_logprobs',
  'top_p',
  'user',
])
