import { isRecord } from '../json-schema.ts'
import { reasoning } from '../scenario.ts'
import { findLateSystem, findNoUser, findPart, listCurrentTurn } from './find.ts'
import { toMemberForm } from './form.ts'
import type { Body } from './request.ts'
import type { Rule } from './rule.ts'
import { calling, image, result, system, text, thoughts, user } from './samples.ts'
import { callsFromThoughts } from './thoughts.ts'
import type { CompatibleUpstream } from './upstream.ts'

/** What the chat template of Qwen 3.5 raises, on every server: https://huggingface.co/Qwen/Qwen3.5-397B-A17B */
export const qwenTemplate: readonly Rule[] = [
  {
    demand: 'one system message, at the beginning',
    source: 'https://huggingface.co/Qwen/Qwen3.5-397B-A17B/blob/main/chat_template.jinja',
    words: 'System message must be at the beginning.',
    find: findLateSystem,
    breaks: { messages: [user, system] },
    keeps: { messages: [system, user] },
  },
  {
    demand: 'a conversation has a user message',
    source: 'https://huggingface.co/Qwen/Qwen3.5-397B-A17B/blob/main/chat_template.jinja',
    words: 'No user query found in messages.',
    find: findNoUser,
    breaks: { messages: [system, calling(), result()] },
    keeps: { messages: [system, user] },
  },
]

/** The template writes the reasoning of the current turn, from the member that the server reads. */
export function wantReasoning(member: string, source: string): Rule {
  return {
    demand: `reasoning of the current turn comes back as ${member}`,
    source,
    words: 'the reasoning of message %s is not that of the answer',
    effect: 'lost-proof',
    find: (body) =>
      listCurrentTurn(body).find(
        ([, message]) => callsFromThoughts(message) && message[member] !== reasoning,
      )?.[0],
    breaks: { messages: [user, calling(), result()] },
    keeps: { messages: [user, calling({ [member]: thoughts }), result()] },
  }
}

/** On unless it is turned off. */
export function thinksByTemplate({ chat_template_kwargs: settings }: Body): boolean {
  return !isRecord(settings) || settings['enable_thinking'] !== false
}

/** Qwen 3.5 on vLLM: https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html */
export const qwen: CompatibleUpstream = {
  name: 'qwen',
  model: 'Qwen/Qwen3.5-397B-A17B',
  thinks: thinksByTemplate,
  form: () => toMemberForm('reasoning'),
  // https://github.com/vllm-project/vllm/blob/main/vllm/entrypoints/openai/serving_engine.py
  toError: ({ status, message }) => ({
    error: {
      message,
      type: status < 500 ? 'BadRequestError' : 'InternalServerError',
      param: null,
      code: status,
    },
  }),
  rules: [
    {
      demand: 'a content has no file',
      source: 'https://github.com/vllm-project/vllm/blob/main/vllm/entrypoints/chat_utils.py',
      words: 'Unknown part type: %s',
      find: (body) =>
        findPart(body, [
          'text',
          'image_url',
          'video_url',
          'input_audio',
          'audio_url',
          'refusal',
          'thinking',
        ]),
      breaks: { messages: [{ role: 'user', content: [text, { type: 'file', file: {} }] }] },
      keeps: { messages: [{ role: 'user', content: [text, image] }] },
    },
    ...qwenTemplate,
    wantReasoning('reasoning', 'https://docs.vllm.ai/en/v0.26.0/features/reasoning_outputs/'),
  ],
}
