import type { Family } from './family.ts'
import { openAiFamilies } from './openai-families.ts'

/** For models that take neither sampling parameters nor another value of them than their own. */
const fixedSampling = [
  'top_k',
  'temperature',
  'top_p',
  'n',
  'presence_penalty',
  'frequency_penalty',
]

/*
 * The first match counts. Sources are the vendors' pages, and where these are silent the clients and the
 * chat templates that are linked, as of November 2026.
 */
export const families: readonly Family[] = [
  // Distilled models have the templates of Llama or Qwen 2.5.
  { name: 'distilled', matches: /distill/, fields: { reasoningHistory: 'none' } },
  // Reasoning must return with every answer of a turn with calls, in all later requests, and a choice other
  // than auto or none is refused while thinking: https://api-docs.deepseek.com/guides/thinking_mode
  {
    name: 'deepseek-4',
    matches: /deepseek-?(v4|v3[.p]2)/,
    fields: {
      toolChoicesThinking: ['auto', 'none'],
      reasoningSwitch: 'thinking',
      templateArgument: 'thinking',
      reasoningEfforts: ['low', 'high', 'max'],
      reasoningOff: true,
      thinksByDefault: true,
      reasoningField: 'reasoning_content',
      reasoningHistory: 'calls',
      reasoningMissing: 'empty',
    },
  },
  // Older models refuse their reasoning: https://api-docs.deepseek.com/guides/reasoning_model_api_example
  {
    name: 'deepseek',
    matches: /deepseek/,
    fields: { templateArgument: 'thinking', reasoningHistory: 'none' },
  },
  // As DeepSeek, but a text that is missing must not be empty: https://platform.xiaomimimo.com/docs
  {
    name: 'mimo',
    matches: /mimo/,
    fields: {
      toolChoicesThinking: ['auto', 'none'],
      reasoningSwitch: 'thinking',
      reasoningOff: true,
      thinksByDefault: true,
      reasoningField: 'reasoning_content',
      reasoningHistory: 'calls',
      reasoningMissing: 'space',
    },
  },
  // Always thinks, with an effort: https://platform.moonshot.ai/docs/guide/kimi-k3-quickstart
  {
    name: 'kimi-k3',
    matches: /kimi-k3/,
    fields: {
      toolChoicesThinking: ['auto', 'none', 'required'],
      schema: 'moonshot',
      boundField: 'max_completion_tokens',
      dropParameters: [...fixedSampling, 'seed'],
      reasoningSwitch: 'effort',
      templateArgument: 'thinking',
      reasoningEfforts: ['low', 'high', 'max'],
      reasoningOff: false,
      thinksByDefault: true,
      reasoningField: 'reasoning_content',
      reasoningHistory: 'all',
    },
  },
  // Always thinks: https://platform.moonshot.ai/docs/guide/kimi-k2-5-quickstart
  {
    name: 'kimi-k2.7-code',
    matches: /kimi-k2[.p]?7-code/,
    fields: {
      toolChoices: ['auto', 'none'],
      schema: 'moonshot',
      boundField: 'max_completion_tokens',
      dropParameters: [...fixedSampling, 'seed'],
      templateArgument: 'thinking',
      thinksByDefault: true,
      reasoningField: 'reasoning_content',
      reasoningHistory: 'all',
    },
  },
  // https://platform.moonshot.ai/docs/guide/kimi-k2-5-quickstart
  {
    name: 'kimi-k2.5',
    matches: /kimi-k2[.p]?[567]/,
    fields: {
      toolChoices: ['auto', 'none', 'named'],
      toolChoicesThinking: ['auto', 'none'],
      schema: 'moonshot',
      boundField: 'max_completion_tokens',
      dropParameters: [...fixedSampling, 'seed'],
      reasoningSwitch: 'thinking',
      templateArgument: 'thinking',
      reasoningEfforts: [],
      reasoningOff: true,
      thinksByDefault: true,
      reasoningField: 'reasoning_content',
      reasoningHistory: 'all',
    },
  },
  {
    name: 'kimi',
    matches: /kimi|moonshot/,
    fields: {
      toolChoices: ['auto', 'none', 'named'],
      schema: 'moonshot',
      dropParameters: ['top_k', 'seed'],
      templateArgument: 'thinking',
      reasoningField: 'reasoning_content',
      reasoningHistory: 'all',
    },
  },
  // Always thinks, with an effort: https://docs.z.ai/guides/llm/glm-5.3
  {
    name: 'glm-5.3',
    matches: /(^|[-_])(chat)?glm-?5[.p][3-9]/,
    fields: {
      reasoningSwitch: 'effort',
      reasoningEfforts: ['low', 'high', 'max'],
      reasoningOff: false,
      thinksByDefault: true,
      reasoningField: 'reasoning_content',
      reasoningHistory: 'turn',
    },
  },
  // https://docs.z.ai/guides/capabilities/thinking-mode
  {
    name: 'glm',
    matches: /(^|[-_])(chat)?glm-?\d|zai-/,
    fields: {
      reasoningSwitch: 'thinking',
      reasoningEfforts: [],
      reasoningOff: true,
      thinksByDefault: true,
      reasoningField: 'reasoning_content',
      reasoningHistory: 'turn',
    },
  },
  // https://platform.minimax.io/docs/guides/text-m3
  {
    name: 'minimax-m3',
    matches: /minimax-?m3/,
    fields: {
      reasoningSwitch: 'thinking',
      reasoningEfforts: [],
      reasoningOff: true,
      thinksByDefault: true,
      thinkingOn: 'adaptive',
      reasoningHistory: 'all',
    },
  },
  // Always thinks, and its reasoning is in the content unless the platform splits it:
  // https://platform.minimax.io/docs/guides/text-m2-function-call
  {
    name: 'minimax',
    matches: /minimax/,
    fields: { thinksByDefault: true, reasoningField: 'tags', reasoningHistory: 'all' },
  },
  { name: 'qwen', matches: /qw(en|q)|qvq/, fields: {} },
  // https://github.com/mistralai/mistral-common
  {
    name: 'mistral',
    matches: /mi[sx]tral|ministral|magistral|devstral|codestral|pixtral/,
    fields: {
      userAfterTool: 'assistant',
      toolCallIds: 'nine',
      reasoningField: 'chunks',
      reasoningHistory: 'all',
    },
  },
  // Never without thinking: https://cookbook.openai.com/articles/openai-harmony
  {
    name: 'harmony',
    matches: /gpt-?oss/,
    fields: {
      reasoningSwitch: 'effort',
      reasoningEfforts: ['low', 'medium', 'high'],
      reasoningOff: false,
      thinksByDefault: true,
      reasoningField: 'reasoning',
      reasoningHistory: 'turn',
    },
  },
  ...openAiFamilies,
  // Refuses the effort: https://docs.x.ai/docs/guides/reasoning
  {
    name: 'grok-fixed',
    matches: /grok-(4[.p]20|build|code|4-fast|4[.p]1-fast)/,
    fields: {
      dropParameters: ['top_k', 'stop', 'presence_penalty', 'frequency_penalty'],
      reasoningHistory: 'none',
    },
  },
  {
    name: 'grok-4.3',
    matches: /grok-4[.p]3/,
    fields: {
      dropParameters: ['top_k', 'stop', 'presence_penalty', 'frequency_penalty'],
      reasoningSwitch: 'effort',
      reasoningEfforts: ['low', 'medium', 'high'],
      reasoningOff: true,
      thinksByDefault: true,
      reasoningHistory: 'none',
    },
  },
  {
    name: 'grok-4.6',
    matches: /grok-4[.p][6-9]/,
    fields: {
      dropParameters: ['top_k', 'stop', 'presence_penalty', 'frequency_penalty'],
      reasoningSwitch: 'effort',
      reasoningEfforts: ['low', 'medium', 'high', 'xhigh'],
      thinksByDefault: true,
      reasoningHistory: 'none',
    },
  },
  {
    name: 'grok-4',
    matches: /grok-[4-9]/,
    fields: {
      dropParameters: ['top_k', 'stop', 'presence_penalty', 'frequency_penalty'],
      reasoningSwitch: 'effort',
      reasoningEfforts: ['low', 'medium', 'high'],
      thinksByDefault: true,
      reasoningHistory: 'none',
    },
  },
  {
    name: 'grok-3-mini',
    matches: /grok-3-mini/,
    fields: {
      dropParameters: ['top_k', 'stop'],
      reasoningSwitch: 'effort',
      reasoningEfforts: ['low', 'high'],
      thinksByDefault: true,
      reasoningHistory: 'none',
    },
  },
  { name: 'grok', matches: /grok-/, fields: { reasoningHistory: 'none' } },
  // Templates that alternate: https://huggingface.co/google/gemma-3-27b-it
  { name: 'alternating', matches: /gemma|llama-?2/, fields: { userAfterTool: 'assistant' } },
  // Their reasoning is signed: https://openrouter.ai/docs/use-cases/reasoning-tokens
  { name: 'gemini', matches: /gemini/, fields: { reasoningSigned: true } },
  { name: 'claude', matches: /claude/, fields: { reasoningSigned: true } },
  // Always think; some have efforts, which the others refuse: https://platform.stepfun.com/docs/guide/reasoning
  {
    name: 'step-3.7',
    matches: /step-3[.p]7/,
    fields: {
      reasoningSwitch: 'effort',
      reasoningEfforts: ['low', 'medium', 'high'],
      thinksByDefault: true,
      reasoningField: 'reasoning',
    },
  },
  {
    name: 'step-3.5-2603',
    matches: /step-3[.p]5-flash-2603/,
    fields: {
      reasoningSwitch: 'effort',
      reasoningEfforts: ['low', 'high'],
      thinksByDefault: true,
      reasoningField: 'reasoning',
    },
  },
  {
    name: 'step-3',
    matches: /step-3/,
    fields: { thinksByDefault: true, reasoningField: 'reasoning' },
  },
  // https://cloud.tencent.com/document/product/1772
  {
    name: 'hunyuan-3',
    matches: /(^|[^a-z])hy3/,
    fields: { reasoningSwitch: 'effort', reasoningEfforts: ['low', 'high'], thinksByDefault: true },
  },
]

/** Returns the family of a bare id; undefined for one that no rule names. */
export function findFamily(bareId: string): Family | undefined {
  return families.find(({ matches }) => matches.test(bareId))
}

export function getFamily(name: string): Family | undefined {
  return families.find((family) => family.name === name)
}

/**
 * Returns an upstream id in lower case, without a path before it and a version behind it. A tuned model
 * (`ft:MODEL:…`) is of the family of its base: https://platform.openai.com/docs/guides/supervised-fine-tuning
 */
export function toBareId(upstreamId: string): string {
  return upstreamId
    .toLowerCase()
    .replace(/^.*\//, '')
    .replace(/^ft:/, '')
    .replace(/[:@].*$/, '')
}
