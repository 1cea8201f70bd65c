import type { Family } from './family.ts'

const openAiSampling = [
  'top_k',
  'temperature',
  'top_p',
  'logprobs',
  'top_logprobs',
  'presence_penalty',
  'frequency_penalty',
  'logit_bias',
]

/** The families of OpenAI's own models. The first match counts. */
export const openAiFamilies: readonly Family[] = [
  // https://platform.openai.com/docs/guides/reasoning
  {
    name: 'openai-o',
    matches: /(^|[^a-z0-9])o[134](?=$|[^a-z0-9])/,
    fields: {
      boundField: 'max_completion_tokens',
      dropParameters: [...openAiSampling, 'stop'],
      reasoningSwitch: 'effort',
      reasoningEfforts: ['low', 'medium', 'high'],
      thinksByDefault: true,
      reasoningHistory: 'none',
    },
  },
  // Not a reasoning model.
  {
    name: 'openai-chat',
    matches: /gpt-?[5-9](\.\d+)?-chat/,
    fields: { boundField: 'max_completion_tokens' },
  },
  // Only one effort: https://developers.openai.com/api/docs/models/gpt-5-pro
  {
    name: 'openai-5-pro',
    matches: /(^|[^a-z0-9])gpt-?5-pro/,
    fields: {
      boundField: 'max_completion_tokens',
      dropParameters: openAiSampling,
      reasoningSwitch: 'effort',
      reasoningEfforts: ['high'],
      thinksByDefault: true,
      reasoningHistory: 'none',
    },
  },
  // https://github.com/RayBytes/ChatMock/pull/101
  {
    name: 'openai-codex',
    matches: /(^|[^a-z0-9])gpt-?5(\.1)?-codex(?!-max)/,
    fields: {
      boundField: 'max_completion_tokens',
      dropParameters: openAiSampling,
      reasoningSwitch: 'effort',
      reasoningEfforts: ['low', 'medium', 'high'],
      thinksByDefault: true,
      reasoningHistory: 'none',
    },
  },
  {
    name: 'openai-5',
    matches: /(^|[^a-z0-9])gpt-?5(?=$|[^a-z0-9.])/,
    fields: {
      boundField: 'max_completion_tokens',
      dropParameters: openAiSampling,
      reasoningSwitch: 'effort',
      reasoningEfforts: ['minimal', 'low', 'medium', 'high'],
      thinksByDefault: true,
      reasoningHistory: 'none',
    },
  },
  // From 5.1 on thinking can be off, and then the parameters of sampling count; `pro` and `codex` always think:
  // https://developers.openai.com/api/docs/guides/reasoning
  {
    name: 'openai-pro',
    matches: /(^|[^a-z0-9])gpt-?[5-9](\.\d+)?-(pro|codex)/,
    fields: {
      boundField: 'max_completion_tokens',
      dropParameters: openAiSampling,
      reasoningSwitch: 'effort',
      reasoningEfforts: ['low', 'medium', 'high', 'xhigh'],
      thinksByDefault: true,
      reasoningHistory: 'none',
    },
  },
  {
    name: 'openai-5.1',
    matches: /(^|[^a-z0-9])gpt-?5\.1(?=$|[^a-z0-9])/,
    fields: {
      boundField: 'max_completion_tokens',
      dropParametersThinking: openAiSampling,
      reasoningSwitch: 'effort',
      reasoningEfforts: ['low', 'medium', 'high'],
      reasoningOff: true,
      reasoningHistory: 'none',
    },
  },
  // Up to 5.5 `max` is refused, and everywhere `minimal`: https://github.com/pydantic/pydantic-ai/issues/7081,
  // https://github.com/anomalyco/opencode/issues/36141
  {
    name: 'openai-5.2',
    matches: /(^|[^a-z0-9])gpt-?5\.[2-5](?=$|[^a-z0-9])/,
    fields: {
      boundField: 'max_completion_tokens',
      dropParametersThinking: openAiSampling,
      reasoningSwitch: 'effort',
      reasoningEfforts: ['low', 'medium', 'high', 'xhigh'],
      reasoningOff: true,
      thinksByDefault: true,
      reasoningHistory: 'none',
    },
  },
  // Always thinks: https://github.com/The-PR-Agent/pr-agent/pull/3259
  {
    name: 'openai-6-astra',
    matches: /(^|[^a-z0-9])gpt-?6-astra/,
    fields: {
      boundField: 'max_completion_tokens',
      dropParameters: openAiSampling,
      reasoningSwitch: 'effort',
      reasoningEfforts: ['low', 'medium', 'high', 'xhigh', 'max'],
      reasoningOff: false,
      thinksByDefault: true,
      reasoningHistory: 'none',
    },
  },
  {
    name: 'openai-reasoning',
    matches: /(^|[^a-z0-9])gpt-?[5-9](?=$|[^a-z0-9])/,
    fields: {
      boundField: 'max_completion_tokens',
      dropParametersThinking: openAiSampling,
      reasoningSwitch: 'effort',
      reasoningEfforts: ['low', 'medium', 'high', 'xhigh', 'max'],
      reasoningOff: true,
      thinksByDefault: true,
      reasoningHistory: 'none',
    },
  },
]
