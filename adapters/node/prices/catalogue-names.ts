/** How the catalogues name the vendor of a kind. */
export interface CatalogueNames {
  /** The names in LiteLLM, each with the prefix of its models. */
  readonly litellm?: readonly (readonly [provider: string, prefix: string])[]
  /** The id in genai-prices. */
  readonly genaiPrices?: string
  /** The id in models.dev. */
  readonly modelsDev?: string
}

/** By the kind of a provider. */
export const catalogueNames: Readonly<Record<string, CatalogueNames>> = {
  anthropic: {
    litellm: [['anthropic', '']],
    genaiPrices: 'anthropic',
    modelsDev: 'anthropic',
  },
  azure: {
    litellm: [
      ['azure', 'azure/'],
      ['azure_ai', 'azure_ai/'],
    ],
    genaiPrices: 'azure',
    modelsDev: 'azure',
  },
  bedrock: {
    litellm: [
      ['bedrock_converse', ''],
      ['bedrock', ''],
      ['bedrock_mantle', 'bedrock_mantle/'],
    ],
    genaiPrices: 'aws',
    modelsDev: 'amazon-bedrock',
  },
  cerebras: {
    litellm: [['cerebras', 'cerebras/']],
    genaiPrices: 'cerebras',
    modelsDev: 'cerebras',
  },
  cloudflare: {
    litellm: [['cloudflare', 'cloudflare/']],
    genaiPrices: 'cloudflare',
    modelsDev: 'cloudflare-workers-ai',
  },
  cohere: {
    litellm: [
      ['cohere', 'cohere/'],
      ['cohere', ''],
      ['cohere_chat', ''],
    ],
    genaiPrices: 'cohere',
    modelsDev: 'cohere',
  },
  dashscope: { litellm: [['dashscope', 'dashscope/']], modelsDev: 'alibaba' },
  deepinfra: { litellm: [['deepinfra', 'deepinfra/']], modelsDev: 'deepinfra' },
  deepseek: {
    litellm: [['deepseek', 'deepseek/']],
    genaiPrices: 'deepseek',
    modelsDev: 'deepseek',
  },
  fireworks: {
    litellm: [
      ['fireworks_ai', 'fireworks_ai/'],
      ['fireworks_ai-embedding-models', 'fireworks_ai/'],
    ],
    genaiPrices: 'fireworks',
    modelsDev: 'fireworks-ai',
  },
  google: { litellm: [['gemini', 'gemini/']], genaiPrices: 'google', modelsDev: 'google' },
  groq: { litellm: [['groq', 'groq/']], genaiPrices: 'groq', modelsDev: 'groq' },
  jina: { litellm: [['jina_ai', '']] },
  minimax: {
    litellm: [['minimax', 'minimax/']],
    genaiPrices: 'minimax',
    modelsDev: 'minimax',
  },
  mistral: {
    litellm: [['mistral', 'mistral/']],
    genaiPrices: 'mistral',
    modelsDev: 'mistral',
  },
  moonshot: {
    litellm: [['moonshot', 'moonshot/']],
    genaiPrices: 'moonshotai',
    modelsDev: 'moonshotai',
  },
  nebius: { litellm: [['nebius', 'nebius/']], modelsDev: 'nebius' },
  novita: { litellm: [['novita', 'novita/']], genaiPrices: 'novita', modelsDev: 'novita-ai' },
  nvidia: { litellm: [['nvidia_nim', 'nvidia_nim/']], modelsDev: 'nvidia' },
  openai: { litellm: [['openai', '']], genaiPrices: 'openai', modelsDev: 'openai' },
  openrouter: {
    litellm: [['openrouter', 'openrouter/']],
    genaiPrices: 'openrouter',
    modelsDev: 'openrouter',
  },
  perplexity: {
    litellm: [['perplexity', 'perplexity/']],
    genaiPrices: 'perplexity',
    modelsDev: 'perplexity',
  },
  sambanova: { litellm: [['sambanova', 'sambanova/']], modelsDev: 'sambanova' },
  siliconflow: { modelsDev: 'siliconflow' },
  stepfun: { modelsDev: 'stepfun' },
  together: {
    litellm: [['together_ai', 'together_ai/']],
    genaiPrices: 'together',
    modelsDev: 'togetherai',
  },
  vertex_ai: {
    litellm: [
      ['vertex_ai', 'vertex_ai/'],
      ['vertex_ai-language-models', ''],
      ['vertex_ai-anthropic_models', 'vertex_ai/'],
      ['vertex_ai-mistral_models', 'vertex_ai/'],
      ['vertex_ai-llama_models', 'vertex_ai/'],
      ['vertex_ai-deepseek_models', 'vertex_ai/'],
      ['vertex_ai-qwen_models', 'vertex_ai/'],
      ['vertex_ai-zai_models', 'vertex_ai/'],
      ['vertex_ai-openai_models', 'vertex_ai/'],
      ['vertex_ai-minimax_models', 'vertex_ai/'],
      ['vertex_ai-moonshot_models', 'vertex_ai/'],
      ['vertex_ai-ai21_models', 'vertex_ai/'],
      ['vertex_ai-embedding-models', ''],
    ],
    genaiPrices: 'google',
    modelsDev: 'google-vertex',
  },
  volcengine: { litellm: [['volcengine', 'volcengine/']] },
  voyage: { litellm: [['voyage', 'voyage/']], genaiPrices: 'voyageai' },
  xai: { litellm: [['xai', 'xai/']], genaiPrices: 'x-ai', modelsDev: 'xai' },
  zai: { litellm: [['zai', 'zai/']], genaiPrices: 'zai', modelsDev: 'zai' },
}
