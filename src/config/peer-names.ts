import type { Path } from './problem.ts'

/*
 * Names from other gateways and client libraries. They are not accepted, only used for suggestions.
 */

/** The name that this gateway has for the same thing, and a rule that differs. */
export interface PeerHint {
  readonly suggestion: string
  /** A difference that the name does not show. */
  readonly note?: string
}

/** Finds the kind for another product's name of it. */
export function findPeerKind(name: string): PeerHint | undefined {
  const plain = name.toLowerCase().replaceAll(/[^a-z\d]/g, '')
  if (openAiServers.has(plain)) return { suggestion: 'openai', note: serverNote }
  const [kind] = Object.entries(peerKinds).find(([, names]) => names.includes(plain)) ?? []
  return kind === undefined ? undefined : { suggestion: kind }
}

/** A key that is not a setting of its table. */
export interface UnknownKey {
  readonly table: Path
  readonly key: string
  /** Every key of that table. */
  readonly given: readonly string[]
}

/** Finds the setting for another product's name of it. */
export function findPeerSetting({ table, key, given }: UnknownKey): PeerHint | undefined {
  const rows = peerSettings[table.filter((part) => typeof part === 'string').join('.')] ?? []
  const plain = key.toLowerCase().replaceAll('_', '')
  const row = rows.find(({ names }) => names.includes(plain))
  const suggestion = row?.candidates.find((setting) => !given.includes(setting))
  return row === undefined || suggestion === undefined ? undefined : { ...row, suggestion }
}

const serverNote = 'for a server with an OpenAI-compatible API, use kind "openai" and its base_url'

/** Servers, proxies and vendors that have no kind. Lower case, letters and digits only. */
const openAiServers: ReadonlySet<string> = new Set([
  'openaicompatible',
  'openailike',
  'customopenai',
  'custom',
  'llamafile',
  'litellm',
  'litellmproxy',
  'localai',
  'tgi',
  'textgenerationinference',
  'infinity',
  'xinference',
  'hyperbolic',
])

/** Other names of each kind. Lower case, letters and digits only. */
const peerKinds: Readonly<Record<string, readonly string[]>> = {
  anthropic: ['claude', 'anthropicai'],
  azure: ['azureopenai', 'azureai', 'azureaifoundry'],
  bedrock: ['aws', 'awsbedrock', 'amazonbedrock', 'amazon', 'bedrockconverse'],
  cloudflare: ['workersai', 'cloudflareworkersai'],
  cohere: ['coherechat', 'cohereai'],
  dashscope: ['qwen', 'alibaba', 'alibabacloud', 'modelstudio', 'tongyi', 'bailian'],
  fireworks: ['fireworksai'],
  google: ['googleai', 'googleaistudio', 'googlegenai', 'googlegemini', 'palm'],
  huggingface: ['hf', 'huggingfacehub'],
  jina: ['jinaai'],
  mistral: ['mistralai'],
  mixedbread: ['mixedbreadai', 'mxbai'],
  volcengine: ['ark', 'doubao', 'volces', 'bytedance'],
  zai: ['zhipu', 'zhipuai', 'glm', 'bigmodel', 'chatglm'],
  nvidia: ['nim', 'nvidianim'],
  minimax: ['minimaxi'],
  moonshot: ['moonshotai', 'kimi', 'kimiai'],
  nebius: ['nebiusai', 'tokenfactory'],
  novita: ['novitaai'],
  ollama: ['ollamachat'],
  perplexity: ['pplx', 'perplexityai'],
  tei: ['textembeddingsinference'],
  together: ['togetherai', 'togethercomputer'],
  vertex_ai: ['vertex', 'vertexai', 'googlevertex', 'googlevertexai', 'gcp'],
  vllm: ['hostedvllm'],
  voyage: ['voyageai'],
  xai: ['grok'],
}

/** Finds the strategy for another product's name of it. */
export function findPeerStrategy(name: string): string | undefined {
  const plain = name
    .toLowerCase()
    .replaceAll(/[^a-z\d]/g, '')
    .replace(/(?:routing|based)+$/, '')
  const [strategy] = Object.entries(peerStrategies).find(([, names]) => names.includes(plain)) ?? []
  return strategy
}

/** Other names of each strategy of a route. Lower case, letters and digits only. */
const peerStrategies: Readonly<Record<string, readonly string[]>> = {
  weighted: [
    'roundrobin',
    'weightedroundrobin',
    'random',
    'weightedrandom',
    'shuffle',
    'simpleshuffle',
    'loadbalance',
  ],
  fastest: ['latency', 'lowestlatency', 'lowlatency', 'speed'],
  cheapest: ['cost', 'lowestcost', 'lowcost', 'price', 'lowestprice'],
  switch: ['conditional', 'content', 'rules', 'router'],
  least_busy: ['leastconnections', 'leastconn', 'leastrequests', 'leastloaded'],
}

interface PeerSetting {
  /** Lower case, without underscores. */
  readonly names: readonly string[]
  /** The candidates, best first. A setting that the table already contains is skipped. */
  readonly candidates: readonly string[]
  readonly note?: string
}

const perMillion = 'prices are in US dollars per million tokens'
const perToken = `${perMillion}: multiply by 1000000`
const perThousand = `${perMillion}: multiply by 1000`
const keyNote = 'name the environment variable that holds the key, not the key itself'
const keysNote = 'name the environment variables that hold the keys, not the keys themselves'
const timeNote = 'times are in milliseconds'

const addressNames = ['apibase', 'apiurl', 'baseurl', 'url', 'endpoint', 'azureendpoint', 'host']
const keyNames = ['apikey', 'key', 'apitoken', 'token', 'accesskey']
const severalKeyNames = ['apikeys', 'keys', 'apitokens', 'tokens', 'accesskeys']
const timeNames = ['timeout', 'requesttimeout', 'timeoutms']

/** By the table that contains the name. */
const peerSettings: Readonly<Record<string, readonly PeerSetting[]>> = {
  providers: [
    { names: keyNames, candidates: ['api_key_env'], note: keyNote },
    { names: severalKeyNames, candidates: ['api_key_envs'], note: keysNote },
    { names: addressNames, candidates: ['base_url'] },
    { names: timeNames, candidates: ['total_timeout_ms'], note: timeNote },
    { names: ['type', 'provider', 'providertype'], candidates: ['kind'] },
    { names: ['id', 'providername'], candidates: ['name'] },
    {
      names: ['maxretries', 'numretries', 'retries'],
      candidates: ['resilience.retry_max_attempts'],
    },
  ],
  'providers.models': [
    { names: ['name', 'model', 'modelname', 'alias'], candidates: ['id', 'upstream_id'] },
    {
      names: ['modelid', 'deployment', 'deploymentid', 'deploymentname', 'upstream'],
      candidates: ['upstream_id'],
    },
    {
      names: ['inputprice', 'inputcost', 'promptprice', 'priceinput', 'inputcostper1m'],
      candidates: ['cost_per_1m_input'],
      note: perMillion,
    },
    {
      names: ['outputprice', 'outputcost', 'completionprice', 'priceoutput', 'outputcostper1m'],
      candidates: ['cost_per_1m_output'],
      note: perMillion,
    },
    { names: ['inputcostpertoken'], candidates: ['cost_per_1m_input'], note: perToken },
    { names: ['outputcostpertoken'], candidates: ['cost_per_1m_output'], note: perToken },
    {
      names: ['inputcostper1k', 'inputcostper1ktokens'],
      candidates: ['cost_per_1m_input'],
      note: perThousand,
    },
    {
      names: ['outputcostper1k', 'outputcostper1ktokens'],
      candidates: ['cost_per_1m_output'],
      note: perThousand,
    },
    {
      names: ['cachereadinputtokencost'],
      candidates: ['cost_per_1m_cached_input'],
      note: perToken,
    },
    {
      names: ['cachecreationinputtokencost'],
      candidates: ['cost_per_1m_cache_write'],
      note: perToken,
    },
    {
      names: ['cachecreationinputtokencostabove1hr'],
      candidates: ['cost_per_1m_cache_write_1h'],
      note: perToken,
    },
    {
      names: ['inputcostperquery'],
      candidates: ['cost_per_1k_searches'],
      note: 'the price is per thousand searches: multiply by 1000',
    },
    {
      names: ['searchcontextcostperquery'],
      candidates: ['cost_per_1k_web_searches'],
      note: 'the price is per thousand searches: multiply by 1000',
    },
    { names: ['maxtokens', 'maxcompletiontokens'], candidates: ['max_output_tokens'] },
    { names: keyNames, candidates: ['providers.api_key_env'], note: keyNote },
    { names: addressNames, candidates: ['providers.base_url'] },
    { names: timeNames, candidates: ['providers.total_timeout_ms'], note: timeNote },
    { names: ['type', 'mode'], candidates: ['capabilities'] },
  ],
  routes: [
    { names: ['name', 'model', 'modelname', 'alias'], candidates: ['id'] },
    { names: ['type', 'mode', 'routingstrategy', 'policy', 'algorithm'], candidates: ['strategy'] },
    {
      names: ['models', 'deployments', 'backends', 'members', 'endpoints'],
      candidates: ['targets'],
    },
  ],
  'routes.targets': [
    {
      names: ['id', 'name', 'modelid', 'modelname', 'deployment', 'target'],
      candidates: ['model'],
    },
    { names: ['share', 'percent', 'percentage', 'ratio'], candidates: ['weight'] },
  ],
}
