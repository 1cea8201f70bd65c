import { harmonyEffort } from './harmony.ts'
import type { Platform } from './platform.ts'

/** The programs that operators run themselves. */
export const servers: readonly Platform[] = [
  // Inside the gateway.
  {
    name: 'demo',
    fields: {
      systemMessages: 'anywhere',
      mergeSameRole: false,
      strictTools: true,
      reasoningSwitch: 'effort',
      reasoningEfforts: ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
      reasoningOff: true,
      reasoningHistory: 'none',
      promptCacheKey: true,
      serviceTier: true,
      verbosity: true,
    },
  },
  // Only max_tokens and `reasoning` are read: https://github.com/ollama/ollama/blob/main/openai/openai.go
  {
    name: 'ollama',
    fields: {
      toolChoices: ['auto'],
      parallelToolCalls: false,
      dropParameters: ['top_k', 'n', 'logit_bias', 'user'],
      reasoningSwitch: 'effort',
      reasoningEfforts: ['minimal', 'low', 'medium', 'high', 'max'],
      reasoningOff: true,
      reasoningField: 'reasoning',
    },
  },
  // https://docs.vllm.ai/en/v0.26.0/features/reasoning_outputs/
  {
    name: 'vllm',
    fields: {
      dropParameters: [],
      reasoningSwitch: 'template',
      reasoningOff: true,
      reasoningField: 'reasoning',
    },
    models: [harmonyEffort],
  },
  // https://docs.sglang.ai/advanced_features/separate_reasoning.html
  {
    name: 'sglang',
    fields: {
      dropParameters: [],
      strictTools: true,
      reasoningSwitch: 'effort',
      reasoningEfforts: ['minimal', 'low', 'medium', 'high', 'max'],
      reasoningOff: true,
      reasoningField: 'reasoning_content',
    },
    // Other efforts have no effect:
    // https://github.com/sgl-project/sglang/blob/main/python/sglang/srt/entrypoints/openai/serving_chat.py
    models: [{ matches: /deepseek-?(v4|v3[.p]2)/, fields: { reasoningEfforts: ['high', 'max'] } }],
  },
  // https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md
  {
    name: 'llamacpp',
    fields: {
      toolChoices: ['auto', 'none', 'required'],
      dropParameters: [],
      reasoningSwitch: 'template',
      reasoningOff: true,
      reasoningField: 'reasoning_content',
    },
  },
  // https://lmstudio.ai/docs/app/api/endpoints/openai
  {
    name: 'lmstudio',
    fields: {
      toolChoices: ['auto', 'none', 'required'],
      responseFormats: ['json_schema'],
      dropParameters: [],
    },
  },
]
