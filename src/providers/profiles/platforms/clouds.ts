import { harmonyEffort } from './harmony.ts'
import type { Platform } from './platform.ts'

/** The clouds that serve the models of others. */
export const clouds: readonly Platform[] = [
  // `reasoning_content` is refused, and so are members that are null and several choices:
  // https://console.groq.com/docs/api-reference#chat-create. A format of the answer does not go with tools, and
  // few models know a schema: https://console.groq.com/docs/structured-outputs
  {
    name: 'groq',
    hosts: ['.groq.com'],
    fields: {
      boundField: 'max_completion_tokens',
      dropParameters: ['top_k', 'n', 'logprobs', 'top_logprobs', 'logit_bias'],
      responseFormats: ['json_object'],
      responseFormatsWithTools: [],
      reasoningField: 'reasoning',
      emptyContent: 'empty',
      serviceTier: true,
    },
    models: [
      {
        matches: /gpt-?oss|kimi|llama-4/,
        fields: { responseFormats: ['json_object', 'json_schema'] },
      },
      // Thinking is on or off, and in the text unless it is asked for apart: https://console.groq.com/docs/reasoning
      {
        matches: /qwen-?3/,
        fields: {
          reasoningSwitch: 'effort',
          reasoningEfforts: ['default'],
          reasoningOff: true,
          thinksByDefault: true,
          extraBody: { reasoning_format: 'parsed' },
        },
      },
    ],
  },
  // https://inference-docs.cerebras.ai/api-reference/chat-completions
  {
    name: 'cerebras',
    hosts: ['.cerebras.ai'],
    fields: {
      boundField: 'max_completion_tokens',
      reasoningField: 'reasoning',
      promptCacheKey: true,
      serviceTier: true,
    },
    // https://inference-docs.cerebras.ai/capabilities/reasoning
    models: [
      {
        matches: /glm/,
        fields: {
          reasoningSwitch: 'effort',
          reasoningEfforts: ['low', 'medium', 'high'],
          reasoningOff: true,
        },
      },
    ],
  },
  // A format of the answer does not go with tools:
  // https://docs.fireworks.ai/api-reference/post-chatcompletions,
  // https://github.com/BerriAI/litellm/blob/main/litellm/llms/fireworks_ai/chat/transformation.py
  {
    name: 'fireworks',
    hosts: ['.fireworks.ai'],
    fields: {
      strictTools: true,
      dropParameters: [],
      responseFormatsWithTools: [],
      reasoningField: 'reasoning_content',
      promptCacheKey: true,
      serviceTier: true,
    },
    // An effort or `thinking`, not both: https://docs.fireworks.ai/guides/reasoning
    models: [
      {
        matches: /glm/,
        fields: {
          reasoningSwitch: 'effort',
          reasoningEfforts: ['high', 'max'],
          reasoningOff: true,
        },
      },
      {
        matches: /kimi/,
        fields: { reasoningSwitch: 'effort', reasoningEfforts: ['low', 'medium', 'high'] },
      },
      {
        matches: /deepseek-?(v4|v3[.p][12])|qwen-?3|minimax-?m3/,
        fields: {
          reasoningSwitch: 'effort',
          reasoningEfforts: ['low', 'medium', 'high'],
          reasoningOff: true,
        },
      },
    ],
  },
  // `none` and `required` have no effect: https://docs.together.ai/reference/chat-completions-1
  {
    name: 'together',
    hosts: ['.together.ai', '.together.xyz'],
    fields: {
      toolChoices: ['auto', 'named'],
      dropParameters: [],
      reasoningField: 'reasoning',
    },
    // Models with two modes have a switch, others an effort:
    // https://docs.together.ai/docs/inference/chat/reasoning, https://docs.together.ai/docs/glm-5.3-quickstart
    models: [
      {
        matches: /glm-?5[.p][3-9]/,
        fields: { reasoningSwitch: 'effort', reasoningEfforts: ['low', 'medium', 'high', 'max'] },
      },
      {
        matches: /deepseek-?(v4|v3[.p][12])|glm-?\d|kimi-k2[.p]?[56]|qwen-?3[.p][5-9]|minimax-?m3/,
        fields: { reasoningSwitch: 'together', reasoningEfforts: [], reasoningOff: true },
      },
    ],
  },
  // https://deepinfra.com/docs/advanced/function_calling
  {
    name: 'deepinfra',
    hosts: ['.deepinfra.com'],
    fields: { toolChoices: ['auto', 'none'], dropParameters: [] },
  },
  // https://openrouter.ai/docs/use-cases/reasoning-tokens
  {
    name: 'openrouter',
    hosts: ['.openrouter.ai', 'openrouter.ai'],
    fields: {
      strictTools: true,
      dropParameters: [],
      reasoningSwitch: 'openrouter',
      reasoningEfforts: ['minimal', 'low', 'medium', 'high', 'xhigh'],
      reasoningOff: true,
      reasoningField: 'reasoning_details',
      reasoningHistory: 'all',
      // https://openrouter.ai/docs/guides/overview/multimodal/pdfs
      fileAddresses: true,
      cacheControl: true,
      verbosity: true,
    },
    // https://github.com/pydantic/pydantic-ai/blob/main/pydantic_ai_slim/pydantic_ai/profiles/google.py
    models: [{ matches: /gemini/, fields: { schema: 'gemini' } }],
  },
  // https://docs.sambanova.ai/docs/en/features/openai-compatibility
  {
    name: 'sambanova',
    hosts: ['.sambanova.ai'],
    fields: {
      dropParameters: [
        'presence_penalty',
        'frequency_penalty',
        'seed',
        'n',
        'logit_bias',
        'logprobs',
        'top_logprobs',
        'user',
      ],
    },
  },
  // https://developers.cloudflare.com/workers-ai/configuration/open-ai-compatibility
  { name: 'cloudflare', hosts: ['.cloudflare.com'], fields: { userAfterTool: 'assistant' } },
  // https://docs.nvidia.com/nim/large-language-models/latest/thinking-budget-control.html
  {
    name: 'nvidia',
    hosts: ['.nvidia.com'],
    fields: {
      reasoningSwitch: 'template',
      reasoningOff: true,
      reasoningField: 'reasoning_content',
      dropParameters: ['top_k', 'n', 'logprobs', 'top_logprobs'],
    },
    models: [harmonyEffort],
  },
  { name: 'huggingface', hosts: ['.huggingface.co'], fields: {} },
  // https://docs.tokenfactory.nebius.com/api-reference
  { name: 'nebius', hosts: ['.nebius.com'], fields: {} },
  // One switch for every model: https://novita.ai/docs/api-reference/model-apis-llm-create-chat-completion
  {
    name: 'novita',
    hosts: ['.novita.ai'],
    fields: { reasoningSwitch: 'enable_thinking', reasoningOff: true, dropParameters: [] },
  },
  // https://docs.siliconflow.com/en/api-reference/chat-completions/chat-completions
  {
    name: 'siliconflow',
    hosts: ['.siliconflow.com', '.siliconflow.cn'],
    fields: { reasoningSwitch: 'enable_thinking', reasoningOff: true, dropParameters: [] },
  },
  // https://modelscope.cn/docs/model-service/API-Inference/intro
  {
    name: 'modelscope',
    hosts: ['.modelscope.cn'],
    fields: { reasoningSwitch: 'enable_thinking', reasoningOff: true },
  },
  // https://docs.github.com/en/copilot
  { name: 'copilot', hosts: ['.githubcopilot.com'], fields: {} },
  // https://docs.aws.amazon.com/bedrock/latest/userguide/bedrock-mantle.html
  {
    name: 'mantle',
    hosts: ['.api.aws'],
    fields: {
      dropParameters: ['top_k', 'n'],
      reasoningSwitch: 'effort',
      reasoningField: 'reasoning',
    },
  },
]
