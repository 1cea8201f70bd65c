import type { ProfileFields } from '../../core/profile.ts'

/** A platform: what an API of the OpenAI format demands, whatever model it serves. */
export interface Platform {
  /** The value of `profile`; for a kind of the gateway, the name of the kind. */
  readonly name: string
  /** The ends of the host names under which the platform is reached, with a leading dot for subdomains. */
  readonly hosts?: readonly string[]
  /** Names of models that are of this family here, and of another one elsewhere. */
  readonly aliases?: { readonly matches: RegExp; readonly family: string }
  readonly fields: ProfileFields
}

/*
 * The rows state what differs from `unknownProfile`, by the vendors' references and SDKs and the sources of the
 * servers (linked) as of November 2026. What depends on the model is in `families.ts`.
 */
export const platforms: readonly Platform[] = [
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
  // Instructions are accepted anywhere, and functions with `strict`:
  // https://platform.openai.com/docs/api-reference/chat/create
  {
    name: 'openai',
    hosts: ['api.openai.com', '.api.openai.com'],
    fields: {
      systemMessages: 'anywhere',
      mergeSameRole: false,
      strictTools: true,
      boundField: 'max_completion_tokens',
      reasoningHistory: 'none',
      promptCacheKey: true,
      serviceTier: true,
      verbosity: true,
    },
  },
  // https://learn.microsoft.com/azure/ai-foundry/openai/reference
  {
    name: 'azure',
    hosts: ['.openai.azure.com', '.services.ai.azure.com', '.cognitiveservices.azure.com'],
    fields: {
      systemMessages: 'anywhere',
      mergeSameRole: false,
      strictTools: true,
      reasoningHistory: 'none',
      promptCacheKey: true,
      serviceTier: true,
      verbosity: true,
    },
  },
  // `strict` is refused outside of the beta address; a schema for the answer and `seed` are unknown:
  // https://api-docs.deepseek.com/api/create-chat-completion
  {
    name: 'deepseek',
    hosts: ['.deepseek.com'],
    aliases: { matches: /^deepseek-(chat|reasoner|flash|pro)$/, family: 'deepseek-4' },
    fields: { responseFormats: ['json_object'], dropParameters: ['top_k', 'seed'] },
  },
  // https://platform.moonshot.ai/docs/api/chat
  {
    name: 'moonshot',
    hosts: ['.moonshot.ai', '.moonshot.cn', '.kimi.com'],
    fields: { boundField: 'max_completion_tokens', promptCacheKey: true },
  },
  // Only `auto` is a choice: https://docs.z.ai/api-reference/llm/chat-completion
  {
    name: 'zai',
    hosts: ['.z.ai', '.bigmodel.cn'],
    fields: {
      toolChoices: ['auto'],
      parallelToolCalls: false,
      dropParameters: ['top_k', 'presence_penalty', 'frequency_penalty'],
    },
  },
  // One system message, first; split reasoning; streams without [DONE]:
  // https://platform.minimax.io/docs/api-reference/text-openai-api
  {
    name: 'minimax',
    hosts: ['.minimax.io', '.minimaxi.com', '.minimax.chat'],
    fields: {
      boundField: 'max_completion_tokens',
      toolChoices: ['auto'],
      parallelToolCalls: false,
      dropParameters: ['top_k', 'presence_penalty', 'frequency_penalty', 'seed'],
      reasoningField: 'reasoning_details',
      extraBody: { reasoning_split: true },
      streamEnd: 'finish',
    },
  },
  // https://help.aliyun.com/zh/model-studio/error-code
  {
    name: 'dashscope',
    hosts: ['.aliyuncs.com'],
    fields: {
      toolChoices: ['auto', 'none', 'named'],
      toolChoicesThinking: ['auto', 'none'],
      reservedToolNames: ['search'],
      responseFormatsThinking: [],
      dropParameters: ['frequency_penalty'],
      reasoningSwitch: 'enable_thinking',
      reasoningOff: true,
      reasoningHistory: 'none',
      cacheControl: true,
    },
  },
  // A closed schema: https://docs.mistral.ai/api
  {
    name: 'mistral',
    hosts: ['.mistral.ai'],
    fields: {
      strictTools: true,
      dropParameters: ['top_k', 'user', 'stream_options', 'logprobs', 'top_logprobs', 'logit_bias'],
      renamedParameters: { seed: 'random_seed' },
      reasoningField: 'chunks',
      promptCacheKey: true,
    },
  },
  // https://docs.x.ai/docs/api-reference
  {
    name: 'xai',
    hosts: ['.x.ai'],
    fields: { reasoningHistory: 'none', serviceTier: true },
  },
  // `reasoning_content` is refused, and so are members that are null:
  // https://console.groq.com/docs/api-reference#chat-create
  {
    name: 'groq',
    hosts: ['.groq.com'],
    fields: {
      boundField: 'max_completion_tokens',
      dropParameters: ['top_k', 'logprobs', 'top_logprobs', 'logit_bias'],
      reasoningField: 'reasoning',
      emptyContent: 'empty',
      serviceTier: true,
    },
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
  },
  // https://docs.fireworks.ai/api-reference/post-chatcompletions
  {
    name: 'fireworks',
    hosts: ['.fireworks.ai'],
    fields: {
      strictTools: true,
      dropParameters: [],
      reasoningField: 'reasoning_content',
      promptCacheKey: true,
      serviceTier: true,
    },
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
  },
  // Messages must alternate; streams may end without [DONE]:
  // https://docs.perplexity.ai/docs/sonar/openai-compatibility
  { name: 'perplexity', hosts: ['.perplexity.ai'], fields: { streamEnd: 'finish' } },
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
  // https://platform.stepfun.com/docs/api-reference/chat/chat-completion-create
  {
    name: 'stepfun',
    hosts: ['.stepfun.com', '.stepfun.ai'],
    fields: { reasoningField: 'reasoning' },
  },
  // https://www.volcengine.com/docs/82379/1494384
  {
    name: 'volcengine',
    hosts: ['.volces.com'],
    fields: { reasoningSwitch: 'thinking', reasoningOff: true },
  },
  // https://cloud.baidu.com/doc/qianfan-api/s/3m7of64lb
  {
    name: 'qianfan',
    hosts: ['.baidubce.com'],
    fields: { reasoningSwitch: 'thinking', reasoningOff: true },
  },
  // https://cloud.tencent.com/document/product/1772
  {
    name: 'tokenhub',
    hosts: ['.tencentcloudmaas.com'],
    fields: { reasoningSwitch: 'thinking', reasoningOff: true },
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
  // The layers of the vendors that have APIs of their own; the kinds for those carry more.
  // https://ai.google.dev/gemini-api/docs/openai
  {
    name: 'gemini-openai',
    hosts: ['generativelanguage.googleapis.com'],
    fields: {
      schema: 'gemini',
      reasoningSwitch: 'effort',
      reasoningEfforts: ['minimal', 'low', 'medium', 'high'],
      reasoningOff: true,
    },
  },
  // https://platform.claude.com/docs/en/api/openai-sdk
  {
    name: 'anthropic-openai',
    hosts: ['api.anthropic.com'],
    fields: {
      reasoningSwitch: 'thinking',
      reasoningOff: true,
      responseFormats: [],
      reasoningHistory: 'none',
    },
  },
  // https://docs.github.com/en/copilot
  { name: 'copilot', hosts: ['.githubcopilot.com'], fields: {} },
  // https://docs.aws.amazon.com/bedrock/latest/userguide/bedrock-mantle.html
  {
    name: 'mantle',
    hosts: ['.api.aws'],
    fields: { reasoningSwitch: 'effort', reasoningField: 'reasoning' },
  },
]

/** Returns the platform of an address; undefined for a host that no row names. */
export function findPlatformByHost(baseUrl: string): Platform | undefined {
  const host = `.${new URL(baseUrl).hostname.toLowerCase()}`
  return platforms.find(({ hosts = [] }) =>
    hosts.some((end) => host.endsWith(end.startsWith('.') ? end : `.${end}`)),
  )
}

export function getPlatform(name: string): Platform | undefined {
  return platforms.find((platform) => platform.name === name)
}
