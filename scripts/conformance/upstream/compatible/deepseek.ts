import {
  findChoice,
  findMessage,
  findName,
  findPart,
  findRole,
  findUnanswered,
  listTurnsWithCalls,
} from './find.ts'
import { toMemberForm } from './form.ts'
import type { Body } from './request.ts'
import { calling, image, jsonSchema, named, result, text, thoughts, tool, user } from './samples.ts'
import { findChangedThoughts } from './thoughts.ts'
import type { CompatibleUpstream } from './upstream.ts'

/** DeepSeek V4: https://api-docs.deepseek.com/api/create-chat-completion */
export const deepseek: CompatibleUpstream = {
  name: 'deepseek',
  model: 'deepseek-v4-pro',
  thinks,
  form: () => toMemberForm('reasoning_content'),
  rules: [
    {
      demand: 'the role developer is unknown',
      source: 'https://api-docs.deepseek.com/api/create-chat-completion',
      words:
        'Failed to deserialize the JSON body into the target type: messages[%s].role: unknown variant `developer`, expected one of `system`, `user`, `assistant`, `tool`',
      find: (body) => findRole(body, 'developer'),
      breaks: { messages: [{ role: 'developer', content: 'Be brief.' }, user] },
      keeps: { messages: [{ role: 'system', content: 'Be brief.' }, user] },
    },
    {
      demand: 'a content has text only',
      source: 'https://api-docs.deepseek.com/api/create-chat-completion',
      words:
        'Failed to deserialize the JSON body into the target type: messages: unknown variant `%s`, expected `text`',
      find: (body) => findPart(body, ['text']),
      breaks: { messages: [{ role: 'user', content: [text, image] }] },
      keeps: { messages: [{ role: 'user', content: [text] }] },
    },
    {
      demand: 'names of tools have 64 letters, digits, _ and - at most',
      source: 'https://api-docs.deepseek.com/api/create-chat-completion',
      words:
        "Invalid 'tools[].function.name': '%s' does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]{1,64}$'.",
      find: (body) => findName(body, /^[a-zA-Z0-9_-]{1,64}$/),
      breaks: { tools: [tool('n'.repeat(65))] },
      keeps: { tools: [tool('n'.repeat(64))] },
    },
    {
      demand: 'every call has its result directly behind it',
      source: 'https://github.com/deepseek-ai/DeepSeek-V3/issues/872',
      words:
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. (insufficient tool messages following tool_calls message)",
      find: findUnanswered,
      breaks: { messages: [user, calling({ reasoning_content: thoughts }), user] },
      keeps: { messages: [user, calling({ reasoning_content: thoughts }), result(), user] },
    },
    {
      demand: 'reasoning comes back with every answer of a turn with calls',
      source: 'https://api-docs.deepseek.com/guides/thinking_mode',
      words: 'The `reasoning_content` in the thinking mode must be passed back to the API.',
      find: (body) =>
        thinks(body)
          ? listTurnsWithCalls(body).find(
              ([, message]) => typeof message['reasoning_content'] !== 'string',
            )?.[0]
          : undefined,
      breaks: { messages: [user, calling(), result()] },
      keeps: { messages: [user, calling({ reasoning_content: thoughts }), result()] },
    },
    {
      demand: 'reasoning comes back as it was',
      source: 'https://api-docs.deepseek.com/guides/thinking_mode',
      words: 'the reasoning of message %s is not that of the answer',
      effect: 'lost-proof',
      find: (body) => (thinks(body) ? findChangedThoughts(body, 'reasoning_content') : undefined),
      breaks: { messages: [user, calling({ reasoning_content: '' }), result()] },
      keeps: { messages: [user, calling({ reasoning_content: thoughts }), result()] },
    },
    {
      demand: 'no tool is forced while the model thinks',
      source: 'https://api-docs.deepseek.com/guides/thinking_mode',
      words: 'Thinking mode does not support this tool_choice',
      find: (body) => (thinks(body) ? findChoice(body, ['auto', 'none']) : undefined),
      breaks: { tools: [tool()], tool_choice: named },
      keeps: { tools: [tool()], tool_choice: named, thinking: { type: 'disabled' } },
    },
    {
      demand: 'a format of the answer is text or json_object',
      source: 'https://api-docs.deepseek.com/guides/json_mode',
      words: 'This response_format type is unavailable now',
      find: ({ response_format: format }) => (format?.type === 'json_schema' ? 0 : undefined),
      breaks: { response_format: jsonSchema },
      keeps: { response_format: { type: 'json_object' } },
    },
    {
      demand: 'an answer in the history has a content or calls',
      source: 'https://api-docs.deepseek.com/api/create-chat-completion',
      words: 'Invalid assistant message: content or tool_calls must be set',
      find: (body) =>
        findMessage(
          body,
          ({ role, content, tool_calls: calls }) =>
            role === 'assistant' && (content ?? undefined) === undefined && !calls?.length,
        ),
      breaks: { messages: [user, { role: 'assistant', content: null }, user] },
      keeps: { messages: [user, { role: 'assistant', content: 'Yes.' }, user] },
    },
  ],
}

/** On unless it is turned off. */
function thinks({ thinking }: Body): boolean {
  return (thinking as { readonly type?: unknown } | undefined)?.type !== 'disabled'
}
