import type { PlatformModels } from './platform.ts'

/** Servers with a switch for templates, whose template of this family reads an effort. */
export const harmonyEffort: PlatformModels = {
  // https://docs.vllm.ai/projects/recipes/en/latest/OpenAI/GPT-OSS.html
  matches: /gpt-?oss/,
  fields: {
    reasoningSwitch: 'effort',
    reasoningEfforts: ['low', 'medium', 'high'],
    reasoningOff: false,
  },
}
