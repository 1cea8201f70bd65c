import type { Path } from './problem.ts'

/*
 * What people who come from other gateways and client libraries write. None of these names is
 * accepted: they only lead to the right one.
 */

/** The name to write here, and what else is different about it. */
export interface PeerHint {
  readonly suggestion: string
  /** A rule that the name alone does not say. */
  readonly note?: string
}

/** The kind that another product's name of a kind means; undefined where it means none. */
export function findPeerKind(name: string): PeerHint | undefined {
  const plain = name.toLowerCase().replaceAll(/[^a-z\d]/g, '')
  if (openAiServers.has(plain)) return { suggestion: 'openai', note: serverNote }
  const [kind] = Object.entries(peerKinds).find(([, names]) => names.includes(plain)) ?? []
  return kind === undefined ? undefined : { suggestion: kind }
}

/** A key that no setting of its table has. */
export interface UnknownKey {
  readonly table: Path
  readonly key: string
  /** All keys of that table. */
  readonly given: readonly string[]
}

/** The setting that another product's name of a setting means; undefined where it means none. */
export function findPeerSetting({ table, key, given }: UnknownKey): PeerHint | undefined {
  const rows = peerSettings[table.filter((part) => typeof part === 'string').join('.')] ?? []
  const plain = key.toLowerCase().replaceAll('_', '')
  const row = rows.find(({ names }) => names.includes(plain))
  const suggestion = row?.means.find((setting) => !given.includes(setting))
  return row === undefined || suggestion === undefined ? undefined : { ...row, suggestion }
}

const serverNote = 'a server that speaks the OpenAI format is kind "openai" with its base_url'

/** Servers, proxies and vendors without a kind of their own. Lower case, letters and digits only. */
const openAiServers: ReadonlySet<string> = new Set([
  'openaicompatible',
  'openailike',
  'customopenai',
  'custom',
  'lmstudio',
  'llamacpp',
  'llamafile',
  'litellm',
  'litellmproxy',
  'localai',
  'sglang',
  'tgi',
  'textgenerationinference',
  'infinity',
  'xinference',
  'moonshot',
  'dashscope',
  'nebius',
  'novita',
  'hyperbolic',
  'siliconflow',
])

/** Other names of each kind. Lower case, letters and digits only. */
const peerKinds: Readonly<Record<string, readonly string[]>> = {
  anthropic: ['claude', 'anthropicai'],
  azure: ['azureopenai', 'azureai', 'azureaifoundry'],
  bedrock: ['aws', 'awsbedrock', 'amazonbedrock', 'amazon', 'bedrockconverse'],
  cloudflare: ['workersai', 'cloudflareworkersai'],
  cohere: ['coherechat', 'cohereai'],
  fireworks: ['fireworksai'],
  google: ['googleai', 'googleaistudio', 'googlegenai', 'googlegemini', 'palm'],
  huggingface: ['hf', 'huggingfacehub'],
  jina: ['jinaai'],
  mistral: ['mistralai'],
  mixedbread: ['mixedbreadai', 'mxbai'],
  nvidia: ['nim', 'nvidianim'],
  ollama: ['ollamachat'],
  perplexity: ['pplx', 'perplexityai'],
  tei: ['textembeddingsinference'],
  together: ['togetherai', 'togethercomputer'],
  vertex_ai: ['vertex', 'vertexai', 'googlevertex', 'googlevertexai', 'gcp'],
  vllm: ['hostedvllm'],
  voyage: ['voyageai'],
  xai: ['grok'],
}

interface PeerSetting {
  /** Lower case, without underscores. */
  readonly names: readonly string[]
  /** The first of these settings that the table does not hold yet is meant. */
  readonly means: readonly string[]
  readonly note?: string
}

const perMillion = 'prices are US dollars for a million tokens'
const perToken = `${perMillion}: multiply by 1000000`
const perThousand = `${perMillion}: multiply by 1000`
const keyNote = 'the file holds no keys, it names the environment variable that does'
const timeNote = 'times are milliseconds'

const addressNames = ['apibase', 'apiurl', 'baseurl', 'url', 'endpoint', 'azureendpoint', 'host']
const keyNames = ['apikey', 'key', 'apitoken', 'token', 'accesskey']
const timeNames = ['timeout', 'requesttimeout', 'timeoutms']

/** By the table that the name was found in. */
const peerSettings: Readonly<Record<string, readonly PeerSetting[]>> = {
  providers: [
    { names: keyNames, means: ['api_key_env'], note: keyNote },
    { names: addressNames, means: ['base_url'] },
    { names: timeNames, means: ['total_timeout_ms'], note: timeNote },
    { names: ['type', 'provider', 'providertype'], means: ['kind'] },
    { names: ['id', 'providername'], means: ['name'] },
    { names: ['maxretries', 'numretries', 'retries'], means: ['resilience.retry_max_attempts'] },
  ],
  'providers.models': [
    { names: ['name', 'model', 'modelname', 'alias'], means: ['id', 'upstream_id'] },
    {
      names: ['modelid', 'deployment', 'deploymentid', 'deploymentname', 'upstream'],
      means: ['upstream_id'],
    },
    {
      names: ['inputprice', 'inputcost', 'promptprice', 'priceinput', 'inputcostper1m'],
      means: ['cost_per_1m_input'],
      note: perMillion,
    },
    {
      names: ['outputprice', 'outputcost', 'completionprice', 'priceoutput', 'outputcostper1m'],
      means: ['cost_per_1m_output'],
      note: perMillion,
    },
    { names: ['inputcostpertoken'], means: ['cost_per_1m_input'], note: perToken },
    { names: ['outputcostpertoken'], means: ['cost_per_1m_output'], note: perToken },
    {
      names: ['inputcostper1k', 'inputcostper1ktokens'],
      means: ['cost_per_1m_input'],
      note: perThousand,
    },
    {
      names: ['outputcostper1k', 'outputcostper1ktokens'],
      means: ['cost_per_1m_output'],
      note: perThousand,
    },
    { names: ['cachereadinputtokencost'], means: ['cost_per_1m_cached_input'], note: perToken },
    { names: ['cachecreationinputtokencost'], means: ['cost_per_1m_cache_write'], note: perToken },
    {
      names: ['cachecreationinputtokencostabove1hr'],
      means: ['cost_per_1m_cache_write_1h'],
      note: perToken,
    },
    {
      names: ['inputcostperquery'],
      means: ['cost_per_1k_searches'],
      note: 'the price is for a thousand searches: multiply by 1000',
    },
    { names: ['maxtokens', 'maxcompletiontokens'], means: ['max_output_tokens'] },
    { names: keyNames, means: ['providers.api_key_env'], note: keyNote },
    { names: addressNames, means: ['providers.base_url'] },
    { names: timeNames, means: ['providers.total_timeout_ms'], note: timeNote },
    { names: ['type', 'mode'], means: ['capabilities'] },
  ],
}
