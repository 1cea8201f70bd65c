import { findChoice, findMessage, findPart, listCalls } from './find.ts'
import { toMemberForm } from './form.ts'
import { qwenTemplate, thinksByTemplate, wantReasoning } from './qwen.ts'
import { calling, image, named, result, text, thoughts, tool, user } from './samples.ts'
import type { CompatibleUpstream } from './upstream.ts'

const source = 'https://github.com/ggml-org/llama.cpp/blob/master/tools/server/server-common.cpp'
const said = { role: 'assistant', content: 'Yes.' }

/** Qwen 3.5 on llama.cpp: https://github.com/ggml-org/llama.cpp/tree/master/tools/server */
export const llamacpp: CompatibleUpstream = {
  name: 'llamacpp',
  model: 'Qwen3.5-35B-A3B-Q4_K_M.gguf',
  thinks: thinksByTemplate,
  form: () => toMemberForm('reasoning_content'),
  toError: ({ status, message }) => ({
    error: {
      code: status,
      message,
      type: status < 500 ? 'invalid_request_error' : 'server_error',
    },
  }),
  rules: [
    {
      demand: 'every message has a content, apart from one with calls',
      source,
      words: "All non-assistant messages must contain 'content'",
      find: (body) =>
        findMessage(
          body,
          (message) =>
            (message.content ?? undefined) === undefined && listCalls(message).length === 0,
        ),
      breaks: { messages: [user, { role: 'assistant', content: null }, user] },
      keeps: {
        messages: [user, calling({ content: null, reasoning_content: thoughts }), result()],
      },
    },
    {
      demand: 'a content has texts, images and sounds',
      source,
      words: 'unsupported content[].type',
      find: (body) => findPart(body, ['text', 'image_url', 'input_audio']),
      breaks: { messages: [{ role: 'user', content: [text, { type: 'file', file: {} }] }] },
      keeps: { messages: [{ role: 'user', content: [text, image] }] },
    },
    {
      demand: 'a choice of tools is a word of the list',
      source: 'https://github.com/ggml-org/llama.cpp/blob/master/common/chat.cpp',
      words: 'Invalid tool_choice: %s',
      find: (body) => findChoice(body, ['auto', 'none', 'required', 'named']),
      breaks: { tools: [tool()], tool_choice: 'any' },
      keeps: { tools: [tool()], tool_choice: 'required' },
    },
    {
      demand: 'a choice of one tool is no choice',
      source,
      words: 'the tool_choice %s is passed over',
      effect: 'misread',
      find: (body) => findChoice(body, ['auto', 'none', 'required']),
      breaks: { tools: [tool()], tool_choice: named },
      keeps: { tools: [tool()], tool_choice: 'required' },
    },
    {
      demand: 'no answer to continue while the model thinks',
      source,
      words: 'Assistant response prefill is incompatible with enable_thinking.',
      find: (body) =>
        thinksByTemplate(body) && body.messages.at(-1)?.role === 'assistant' ? 0 : undefined,
      breaks: { messages: [user, said] },
      keeps: { messages: [user, said, user] },
    },
    {
      demand: 'a tool is a function with a name',
      source: 'https://github.com/ggml-org/llama.cpp/blob/master/common/chat.cpp',
      words: 'Unsupported tool type: %s',
      find: ({ tools }) => (tools ?? []).find(({ type }) => type !== 'function')?.type,
      breaks: { tools: [{ ...tool(), type: 'custom' }] },
      keeps: { tools: [tool()] },
    },
    // A template that raises is an error of the server.
    ...qwenTemplate.map((rule) => ({ ...rule, status: 500 })),
    wantReasoning(
      'reasoning_content',
      'https://github.com/ggml-org/llama.cpp/blob/master/common/chat.cpp',
    ),
  ],
}
