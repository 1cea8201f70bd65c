import type { ConvertedAddress } from './litellm-result.ts'
import type { ValueReader } from './litellm-values.ts'

type Credential = Pick<
  ConvertedAddress,
  'variable' | 'credentials' | 'profile' | 'address' | 'version'
>

/** Reads the credential of an entry and the address that it goes to, with the variables that LiteLLM reads itself. */
export function readCredential(kind: string, reader: ValueReader): Credential {
  const { key, addresses = [], versions, isOwnServer = false } = defaults[kind] ?? {}
  const own = reader.text('api_base')
  const address = own ?? reader.textOf('api_base', addresses)
  const version =
    versions === undefined
      ? reader.leave('api_version', 'kind azure alone has versions')
      : (reader.text('api_version') ?? reader.textOf('api_version', versions))
  const place = { address, version }
  const secrets = ['api_key', 'vertex_credentials'].filter((name) => reader.has(name))
  const [secret, ...others] = secrets
  for (const name of others) reader.leave(name, 'a provider has one credential; api_key counts')
  if (secret !== undefined) {
    reader.leave('aws_profile_name', 'a provider has one credential; api_key counts')
    return {
      ...place,
      variable: reader.variable(secret),
      credentials: undefined,
      profile: undefined,
    }
  }
  const credentials = findCloud(kind, reader)
  const profile =
    credentials === 'aws'
      ? reader.text('aws_profile_name')
      : reader.leave('aws_profile_name', 'the provider has another credential')
  // The key of a vendor must not go to the server of another one.
  const variable = own === undefined || isOwnServer ? key : undefined
  return { ...place, variable, credentials, profile }
}

/** The cloud whose tools LiteLLM asks for a credential. */
function findCloud(kind: string, reader: ValueReader): ConvertedAddress['credentials'] {
  if (kind === 'vertex_ai') return 'google'
  if (kind !== 'bedrock') return undefined
  // The gateway reads the variables of AWS by itself.
  return reader.has('aws_access_key_id') ? undefined : 'aws'
}

interface Defaults {
  readonly key?: string
  readonly addresses?: readonly string[]
  readonly versions?: readonly string[]
  /** Every customer of the vendor has an address, so an address is not that of another vendor. */
  readonly isOwnServer?: true
}

/**
 * The variables that LiteLLM reads for a parameter that is absent, by kind.
 *
 * @see https://docs.litellm.ai/docs/providers
 */
const defaults: Readonly<Record<string, Defaults>> = {
  openai: { key: 'OPENAI_API_KEY', addresses: ['OPENAI_BASE_URL', 'OPENAI_API_BASE'] },
  azure: {
    key: 'AZURE_API_KEY',
    addresses: ['AZURE_API_BASE'],
    versions: ['AZURE_API_VERSION'],
    isOwnServer: true,
  },
  anthropic: {
    key: 'ANTHROPIC_API_KEY',
    addresses: ['ANTHROPIC_API_BASE', 'ANTHROPIC_BASE_URL'],
  },
  google: { key: 'GEMINI_API_KEY' },
  cohere: { key: 'COHERE_API_KEY' },
  mistral: { key: 'MISTRAL_API_KEY', addresses: ['MISTRAL_API_BASE'] },
  groq: { key: 'GROQ_API_KEY' },
  deepseek: { key: 'DEEPSEEK_API_KEY' },
  together: { key: 'TOGETHERAI_API_KEY' },
  fireworks: { key: 'FIREWORKS_API_KEY' },
  openrouter: { key: 'OPENROUTER_API_KEY', addresses: ['OPENROUTER_API_BASE'] },
  perplexity: { key: 'PERPLEXITYAI_API_KEY' },
  xai: { key: 'XAI_API_KEY' },
  cerebras: { key: 'CEREBRAS_API_KEY' },
  sambanova: { key: 'SAMBANOVA_API_KEY' },
  deepinfra: { key: 'DEEPINFRA_API_KEY' },
  huggingface: { key: 'HUGGINGFACE_API_KEY' },
  nvidia: { key: 'NVIDIA_NIM_API_KEY' },
  voyage: { key: 'VOYAGE_API_KEY' },
  jina: { key: 'JINA_AI_API_KEY' },
  vllm: { addresses: ['HOSTED_VLLM_API_BASE'] },
  ollama: { addresses: ['OLLAMA_API_BASE'] },
}
