import { reasoning } from '../scenario.ts'
import { findChoice, findNoUser, findPart, listCurrentTurn } from './find.ts'
import { toMemberForm } from './form.ts'
import type { Body } from './request.ts'
import { calling, image, named, result, system, text, thoughts, tool, user } from './samples.ts'
import { callsFromThoughts } from './thoughts.ts'
import type { CompatibleUpstream } from './upstream.ts'

/** GLM 5.2: https://docs.z.ai/api-reference/llm/chat-completion */
export const zai: CompatibleUpstream = {
  name: 'zai',
  model: 'glm-5.2',
  thinks,
  form: () => toMemberForm('reasoning_content'),
  toError: ({ status, message, details }) => ({
    error: { code: status === 429 ? '1302' : '1210', message, ...details },
  }),
  rules: [
    {
      demand: 'a conversation has a user message',
      source: 'https://docs.z.ai/api-reference/api-code',
      words: 'The messages parameter is illegal. Please check the documentation.',
      code: '1214',
      find: findNoUser,
      breaks: { messages: [system] },
      keeps: { messages: [system, user] },
    },
    {
      demand: 'a content has text only, for models without v in the name',
      source: 'https://docs.z.ai/api-reference/llm/chat-completion',
      words: "messages.content.type: Invalid API parameter, '%s'. Please check the documentation.",
      find: (body) => findPart(body, ['text']),
      breaks: { messages: [{ role: 'user', content: [text, image] }] },
      keeps: { messages: [{ role: 'user', content: [text] }] },
    },
    {
      demand: 'the choice of tools is auto',
      source: 'https://docs.z.ai/api-reference/llm/chat-completion',
      words: "tool_choice: Invalid API parameter, '%s'. Please check the documentation.",
      find: (body) => findChoice(body, ['auto']),
      breaks: { tools: [tool()], tool_choice: named },
      keeps: { tools: [tool()], tool_choice: 'auto' },
    },
    {
      demand: 'a temperature is 1 at most',
      source: 'https://docs.z.ai/api-reference/llm/chat-completion',
      words: "temperature: Invalid API parameter, '%s'. Please check the documentation.",
      find: ({ temperature }) =>
        typeof temperature === 'number' && temperature > 1 ? temperature : undefined,
      breaks: { temperature: 1.5 },
      keeps: { temperature: 1 },
    },
    {
      demand: 'the bound of the answer is max_tokens',
      source: 'https://docs.z.ai/api-reference/llm/chat-completion',
      words: 'max_completion_tokens is passed over',
      effect: 'misread',
      find: (body) => ('max_completion_tokens' in body ? 0 : undefined),
      breaks: { max_completion_tokens: 100 },
      keeps: { max_tokens: 100 },
    },
    {
      demand: 'reasoning comes back with the results of its turn',
      source: 'https://docs.z.ai/guides/capabilities/thinking-mode',
      words: 'the reasoning of message %s is not that of the answer',
      effect: 'lost-proof',
      find: (body) =>
        thinks(body)
          ? listCurrentTurn(body).find(
              ([, message]) =>
                callsFromThoughts(message) && message['reasoning_content'] !== reasoning,
            )?.[0]
          : undefined,
      breaks: { messages: [user, calling(), result()] },
      keeps: { messages: [user, calling({ reasoning_content: thoughts }), result()] },
    },
  ],
}

/** On unless it is turned off. */
function thinks({ thinking }: Body): boolean {
  return (thinking as { readonly type?: unknown } | undefined)?.type !== 'disabled'
}
