import type { Platform } from './platform.ts'

/** The vendors that serve models of their own. */
export const makers: readonly Platform[] = [
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
  // Only `auto` is a choice: https://docs.z.ai/api-reference/llm/chat-completion. A schema for the answer belongs
  // into the prompt: https://docs.z.ai/guides/capabilities/struct-output
  {
    name: 'zai',
    hosts: ['.z.ai', '.bigmodel.cn'],
    fields: {
      toolChoices: ['auto'],
      parallelToolCalls: false,
      responseFormats: ['json_object'],
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
    // Unknown parameters are ignored without an error, and M2 knows no format of the answer.
    models: [{ matches: /minimax-?m2/, fields: { responseFormats: [] } }],
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
    models: [
      // These always think, and the models with open weights unless they are asked not to:
      // https://help.aliyun.com/zh/model-studio/deep-thinking
      {
        matches: /^(qwq|qvq)|-thinking/,
        fields: { thinksByDefault: true, reasoningOff: false },
      },
      { matches: /^qwen3(\.\d)?-\d+b(?!.*instruct)/, fields: { thinksByDefault: true } },
    ],
  },
  // A closed schema: https://docs.mistral.ai/api
  {
    name: 'mistral',
    hosts: ['.mistral.ai'],
    fields: {
      strictTools: true,
      dropParameters: ['top_k', 'user', 'stream_options', 'logprobs', 'top_logprobs', 'logit_bias'],
      renamedParameters: { seed: 'random_seed' },
      // Every model is served behind one validator:
      // https://github.com/mistralai/mistral-common/blob/main/src/mistral_common/protocol/instruct/validator.py
      userAfterTool: 'assistant',
      toolCallIds: 'nine',
      reasoningField: 'chunks',
      promptCacheKey: true,
    },
    // Thinking is on or off: https://docs.mistral.ai/capabilities/reasoning
    models: [
      { matches: /magistral/, fields: { thinksByDefault: true } },
      {
        matches: /mistral-(small-(2603|latest)|medium-(3[.-][5-9]|latest))/,
        fields: { reasoningSwitch: 'effort', reasoningEfforts: ['high'], reasoningOff: true },
      },
    ],
  },
  // https://docs.x.ai/docs/api-reference
  {
    name: 'xai',
    hosts: ['.x.ai'],
    fields: { reasoningHistory: 'none', serviceTier: true },
  },
  // Messages must alternate; streams may end without [DONE]; there are no functions:
  // https://docs.perplexity.ai/docs/sonar/openai-compatibility,
  // https://docs.getbifrost.ai/providers/supported-providers/perplexity
  {
    name: 'perplexity',
    hosts: ['.perplexity.ai'],
    fields: {
      dropParameters: ['top_k', 'tools', 'stop', 'seed', 'logit_bias', 'logprobs', 'top_logprobs'],
      responseFormats: ['json_schema'],
      reasoningHistory: 'none',
      streamEnd: 'finish',
    },
    // The text of the reasoning is in the content: https://docs.perplexity.ai/docs/sonar/models
    models: [
      {
        matches: /reasoning|deep-research/,
        fields: {
          reasoningSwitch: 'effort',
          reasoningEfforts: ['low', 'medium', 'high'],
          thinksByDefault: true,
          reasoningField: 'tags',
        },
      },
    ],
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
    fields: { reasoningSwitch: 'thinking', reasoningEfforts: [], reasoningOff: true },
    models: [
      {
        matches: /seed-?2[.-]1/,
        fields: { reasoningEfforts: ['minimal', 'low', 'medium', 'high'] },
      },
    ],
  },
  // https://cloud.baidu.com/doc/qianfan-api/s/3m7of64lb
  {
    name: 'qianfan',
    hosts: ['.baidubce.com'],
    fields: { reasoningSwitch: 'thinking', reasoningEfforts: [], reasoningOff: true },
  },
  // https://cloud.tencent.com/document/product/1823/131208
  {
    name: 'tokenhub',
    hosts: ['.tencentcloudmaas.com', '.tencentmaas.com'],
    fields: {
      reasoningSwitch: 'thinking',
      reasoningEfforts: [],
      reasoningOff: true,
      thinkingBudget: true,
    },
    models: [
      { matches: /hunyuan.*thinking/, fields: { thinksByDefault: true, reasoningOff: false } },
      {
        matches: /minimax-?m2/,
        fields: { thinkingOn: 'adaptive', thinkingBudget: false, reasoningOff: false },
      },
      { matches: /minimax/, fields: { thinkingOn: 'adaptive', thinkingBudget: false } },
      // https://github.com/NousResearch/hermes-agent
      {
        matches: /(^|[^a-z])hy3/,
        fields: {
          reasoningSwitch: 'effort',
          reasoningEfforts: ['low', 'high'],
          reasoningOff: false,
        },
      },
    ],
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
      dropParameters: [
        'top_k',
        'n',
        'seed',
        'presence_penalty',
        'frequency_penalty',
        'logit_bias',
        'logprobs',
        'top_logprobs',
      ],
      // Claude demands a budget beside `enabled`.
      reasoningSwitch: 'thinking',
      reasoningEfforts: [],
      reasoningOff: true,
      thinkingOn: 'adaptive',
      thinkingBudget: true,
      responseFormats: [],
      reasoningHistory: 'none',
    },
  },
]
