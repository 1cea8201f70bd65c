import type { Capability } from '../../core/capability.ts'
import type {
  DialectTarget,
  EmbedEndpoint,
  Probe,
  ProviderKind,
  RerankEndpoint,
} from '../../core/provider.ts'
import { openAiChat } from '../openai/chat.ts'
import { type EmbedQuirks, openAiEmbed, openAiEmbedDefaults } from '../openai/embed.ts'
import { authorizeWithBearer } from '../shared/credentials.ts'
import { imagesAsTexts, imagesInChat } from '../shared/embed-modality.ts'
import { probeAnswer, probeHealth, probeRootOn } from '../shared/probe.ts'
import { buildOperationUrl } from '../shared/request.ts'
import { resultsRerank } from '../shared/rerank-results.ts'
import { type MapStatus } from '../shared/vendor-error.ts'
import { cloudflareRerank } from './cloudflare.ts'
import { huggingFaceEmbed } from './huggingface.ts'
import { nvidiaRerank } from './nvidia.ts'
import { ollamaEmbed } from './ollama.ts'

/** A vendor that is only an address and a list of what it serves. */
interface Vendor {
  readonly name: string
  /** Absent: the address is the user's own, and `base_url` is required. */
  readonly baseUrl?: string
  readonly capabilities: readonly Capability[]
  readonly embedNeedsBaseUrl?: boolean
  readonly keyless?: boolean
  /**
   * How the token counts of a stream come: `ask` with `stream_options.include_usage`, `always`
   * unasked, or `never` because the vendor refuses a request that asks (Mistral answers 422).
   */
  readonly streamUsage: 'ask' | 'always' | 'never'
  /** Streams may end without `[DONE]`. */
  readonly isDoneOptional?: boolean
  /** The vendor's own meaning of a status. */
  readonly mapStatus?: MapStatus
  /** How a server of this kind shows that it is alive. */
  readonly probe?: (baseUrl: string) => Probe
  /** Where its embeddings differ from OpenAI's, or a dialect of their own. */
  readonly embed?: EmbedQuirks | ((target: DialectTarget) => EmbedEndpoint)
  readonly rerank?: (target: DialectTarget) => RerankEndpoint
}

const chatAndEmbed: readonly Capability[] = ['chat', 'embed']
const all: readonly Capability[] = ['chat', 'embed', 'rerank']

// Addresses and habits by the vendors' API references and SDKs, as of November 2026.
const vendors: readonly Vendor[] = [
  {
    name: 'openai',
    baseUrl: 'https://api.openai.com/v1',
    capabilities: chatAndEmbed,
    streamUsage: 'ask',
    // Many servers speak this format, and few agree on a health path; LM Studio complains of any.
    probe: probeAnswer('/models'),
  },
  {
    name: 'vllm',
    capabilities: all,
    streamUsage: 'ask',
    probe: probeHealth('/health'),
    embed: { limits: { items: 2048 }, mixed: imagesInChat },
    rerank: bindRerank,
  },
  {
    name: 'mistral',
    baseUrl: 'https://api.mistral.ai/v1',
    capabilities: chatAndEmbed,
    streamUsage: 'never',
    // Nothing else may be in the body; older accounts take 16,384 tokens a request.
    embed: {
      limits: { items: 64, tokens: 14_000 },
      supportsTokenIds: false,
      dimensions: 'output_dimension',
    },
  },
  {
    name: 'together',
    baseUrl: 'https://api.together.ai/v1',
    capabilities: all,
    streamUsage: 'ask',
    embed: { limits: { items: 128 }, dimensions: null },
    rerank: bindRerank,
  },
  {
    name: 'groq',
    baseUrl: 'https://api.groq.com/openai/v1',
    capabilities: chatAndEmbed,
    embedNeedsBaseUrl: true,
    streamUsage: 'always',
    // 498: the flex tier has no capacity at the moment.
    mapStatus: (status) => (status === 498 ? 429 : status),
  },
  {
    name: 'fireworks',
    baseUrl: 'https://api.fireworks.ai/inference/v1',
    capabilities: chatAndEmbed,
    streamUsage: 'always',
    embed: { limits: { items: 128 } },
  },
  {
    name: 'deepseek',
    baseUrl: 'https://api.deepseek.com',
    capabilities: chatAndEmbed,
    embedNeedsBaseUrl: true,
    streamUsage: 'always',
  },
  {
    name: 'openrouter',
    baseUrl: 'https://openrouter.ai/api/v1',
    capabilities: chatAndEmbed,
    embedNeedsBaseUrl: true,
    streamUsage: 'ask',
  },
  {
    name: 'perplexity',
    baseUrl: 'https://api.perplexity.ai',
    capabilities: chatAndEmbed,
    embedNeedsBaseUrl: true,
    streamUsage: 'always',
    isDoneOptional: true,
    // Its vectors are bytes; as floats they would be garbage.
    embed: { ...openAiEmbedDefaults, rejectsBase64: true },
  },
  {
    name: 'xai',
    baseUrl: 'https://api.x.ai/v1',
    capabilities: chatAndEmbed,
    embedNeedsBaseUrl: true,
    streamUsage: 'ask',
    // A wrong key is a 400 here.
    mapStatus: (status, message) => (status === 400 && /api key/i.test(message) ? 401 : status),
  },
  {
    name: 'deepinfra',
    baseUrl: 'https://api.deepinfra.com/v1/openai',
    capabilities: chatAndEmbed,
    streamUsage: 'ask',
    embed: { limits: { items: 1024 } },
  },
  {
    name: 'huggingface',
    baseUrl: 'https://router.huggingface.co/v1',
    capabilities: chatAndEmbed,
    streamUsage: 'ask',
    embed: huggingFaceEmbed,
  },
  // The account stands in the address, so there is no default.
  {
    name: 'cloudflare',
    capabilities: all,
    streamUsage: 'ask',
    embed: { limits: { items: 100 }, dimensions: null },
    rerank: cloudflareRerank,
  },
  {
    name: 'cerebras',
    baseUrl: 'https://api.cerebras.ai/v1',
    capabilities: chatAndEmbed,
    embedNeedsBaseUrl: true,
    streamUsage: 'always',
  },
  {
    name: 'sambanova',
    baseUrl: 'https://api.sambanova.ai/v1',
    capabilities: chatAndEmbed,
    embedNeedsBaseUrl: true,
    streamUsage: 'ask',
  },
  {
    name: 'nvidia',
    baseUrl: 'https://integrate.api.nvidia.com/v1',
    capabilities: all,
    streamUsage: 'ask',
    // 202: accepted, to be polled for; the gateway does not poll.
    mapStatus: (status) => (status === 202 ? 503 : status),
    probe: probeRootOn('nvidia.com', probeHealth('/v1/health/ready')),
    embed: { limits: { items: 50 }, mixed: imagesAsTexts },
    rerank: nvidiaRerank,
  },
  {
    name: 'ollama',
    baseUrl: 'http://localhost:11434/v1',
    capabilities: chatAndEmbed,
    keyless: true,
    streamUsage: 'ask',
    probe: probeHealth('/api/version'),
    embed: ollamaEmbed,
  },
]

/** Every kind whose chat API takes the client's body as it is. */
export const openAiCompatibleKinds: readonly ProviderKind[] = vendors.map(toKind)

function toKind(vendor: Vendor): ProviderKind {
  const { name, baseUrl, capabilities, embedNeedsBaseUrl, keyless, rerank } = vendor
  const prefix = baseUrl === undefined ? '/v1' : new URL(baseUrl).pathname.replace(/\/+$/, '')
  return Object.freeze({
    name,
    capabilities,
    ownSettings: ['stream_usage'],
    canFetchImages: true,
    ...(baseUrl !== undefined && { defaultBaseUrl: baseUrl }),
    ...(embedNeedsBaseUrl && { embedNeedsBaseUrl }),
    ...(keyless && { keyless }),
    ...(vendor.probe && { probe: vendor.probe }),
    createAuthorizer: authorizeWithBearer,
    chat: (target) =>
      openAiChat({
        url: buildOperationUrl(target.baseUrl, prefix, '/chat/completions'),
        upstreamId: target.upstreamId,
        streamUsage: vendor.streamUsage === 'ask' ? target.streamUsage : 'not-asked',
        isDoneOptional: vendor.isDoneOptional,
        mapStatus: vendor.mapStatus,
      }),
    embed: (target) => bindEmbed(vendor, prefix, target),
    ...(rerank && { rerank }),
  } satisfies ProviderKind)
}

function bindEmbed(
  { embed = openAiEmbedDefaults, mapStatus }: Vendor,
  prefix: string,
  target: DialectTarget,
): EmbedEndpoint {
  if (typeof embed === 'function') return embed(target)
  const url = buildOperationUrl(target.baseUrl, prefix, '/embeddings')
  return openAiEmbed({ ...embed, url, upstreamId: target.upstreamId, mapStatus })
}

function bindRerank({ baseUrl, upstreamId }: DialectTarget): RerankEndpoint {
  return resultsRerank({ url: buildOperationUrl(baseUrl, '/v1', '/rerank'), upstreamId })
}
