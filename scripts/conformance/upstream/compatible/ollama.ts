import { findChoice, findMember, findMessage, findPart, findTextList, listCalls } from './find.ts'
import { toMemberForm } from './form.ts'
import { wantReasoning } from './qwen.ts'
import type { Body } from './request.ts'
import { calling, image, named, result, text, thoughts, tool, user } from './samples.ts'
import type { CompatibleUpstream } from './upstream.ts'

/** Everything is in one file, as of August 2026. */
const source = 'https://github.com/ollama/ollama/blob/main/openai/openai.go'

/** Ollama with a model that thinks. Its templates take system messages anywhere. */
export const ollama: CompatibleUpstream = {
  name: 'ollama',
  model: 'qwen3-vl:32b',
  thinks: ({ reasoning_effort: effort }: Body) => effort !== 'none',
  form: () => toMemberForm('reasoning'),
  toError: ({ status, message }) => ({
    error: {
      message,
      type: status < 500 ? 'invalid_request_error' : 'api_error',
      param: null,
      code: null,
    },
  }),
  rules: [
    {
      demand: 'only calls stand without a content',
      source,
      words: 'invalid message content type: <nil>',
      find: (body) =>
        findMessage(
          body,
          (message) =>
            (message.content ?? undefined) === undefined && listCalls(message).length === 0,
        ),
      breaks: { messages: [user, { role: 'assistant', content: null }, user] },
      keeps: { messages: [user, calling({ content: null, reasoning: thoughts }), result()] },
    },
    {
      demand: 'a content has texts and images',
      source,
      words: 'invalid message format',
      find: (body) => findPart(body, ['text', 'image_url', 'input_audio']),
      breaks: { messages: [{ role: 'user', content: [text, { type: 'file', file: {} }] }] },
      keeps: { messages: [{ role: 'user', content: [text, image] }] },
    },
    {
      demand: 'an image has no address',
      source,
      words: 'invalid image input',
      find: (body) =>
        findMessage(
          body,
          ({ content }) =>
            Array.isArray(content) && content.some((part) => isAddress(part['image_url'])),
        ),
      breaks: {
        messages: [
          {
            role: 'user',
            content: [{ type: 'image_url', image_url: { url: 'https://a.test/b' } }],
          },
        ],
      },
      keeps: { messages: [{ role: 'user', content: [image] }] },
    },
    {
      demand: 'an effort is a word of the list',
      source,
      words: `invalid reasoning value: '%s' (must be "high", "medium", "low", "max", or "none")`,
      find: ({ reasoning_effort: effort }) =>
        effort === undefined || efforts.has(effort) ? undefined : String(effort),
      breaks: { reasoning_effort: 'much' },
      keeps: { reasoning_effort: 'xhigh' },
    },
    {
      demand: 'text is a string: each part of a list becomes a message',
      source,
      words: 'the parts of message %s become messages',
      effect: 'misread',
      find: findTextList,
      breaks: { messages: [{ role: 'user', content: [text, text] }] },
      keeps: { messages: [user] },
    },
    {
      demand: 'the bound of the answer is max_tokens',
      source,
      words: 'max_completion_tokens is passed over',
      effect: 'misread',
      find: (body) => ('max_completion_tokens' in body ? 0 : undefined),
      breaks: { max_completion_tokens: 100 },
      keeps: { max_tokens: 100 },
    },
    {
      demand: 'the model chooses its tools',
      source,
      words: 'the tool_choice %s is passed over',
      effect: 'misread',
      find: (body) => findChoice(body, ['auto']),
      breaks: { tools: [tool()], tool_choice: named },
      keeps: { tools: [tool()], tool_choice: 'auto' },
    },
    {
      demand: 'reasoning has the name reasoning',
      source,
      words: 'the member reasoning_content of message %s is passed over',
      effect: 'misread',
      find: (body) => findMember(body, 'reasoning_content'),
      breaks: {
        messages: [user, { role: 'assistant', content: 'Yes.', reasoning_content: thoughts }, user],
      },
      keeps: {
        messages: [user, { role: 'assistant', content: 'Yes.', reasoning: thoughts }, user],
      },
    },
    wantReasoning('reasoning', source),
  ],
}

const efforts: ReadonlySet<unknown> = new Set([
  'none',
  'minimal',
  'low',
  'medium',
  'high',
  'xhigh',
  'max',
  'ultra',
])

function isAddress(given: unknown): boolean {
  const { url = given } = Object(given) as { readonly url?: unknown }
  return typeof url === 'string' && /^https?:/.test(url)
}
