import type { Capability } from '../../core/capability.ts'
import type { EmbedEndpoint, NativeEndpoint, RerankEndpoint } from '../../core/endpoints.ts'
import type { DialectTarget, Probe, ProviderKind } from '../../core/provider-kind.ts'
import { authorizeWithBearer } from '../base/credentials.ts'
import { imagesInChat } from '../base/embed-modality.ts'
import { probeAnswer, probeHealth, probeRootOn } from '../base/probe.ts'
import { buildOperationUrl } from '../base/request.ts'
import { openAiForm } from '../base/request-form.ts'
import { resultsRerank } from '../base/rerank-results.ts'
import { type MapStatus } from '../base/vendor-error.ts'
import { openAiChat } from '../openai/chat.ts'
import { openAiCompletions } from '../openai/completions.ts'
import { type EmbedQuirks, openAiEmbed, openAiEmbedDefaults } from '../openai/embed.ts'
import { openAiResponses } from '../openai/responses.ts'
import { cloudflareRerank } from './cloudflare.ts'
import { huggingFaceEmbed } from './huggingface.ts'
import { mapPendingStatus, nvidiaEmbed, nvidiaRerank } from './nvidia.ts'
import { ollamaEmbed } from './ollama.ts'

/** A vendor that needs only a row: an address, its capabilities, and the facts in which it differs. */
interface Vendor {
  readonly name: string
  readonly vendorName?: string
  /** The vendor's public address. Without one, `base_url` is required. */
  readonly baseUrl?: string
  readonly capabilities: readonly Capability[]
  readonly embedNeedsBaseUrl?: boolean
  readonly keyless?: boolean
  /**
   * When a stream reports usage. `ask`: only with `stream_options.include_usage`. `always`: without it.
   * `never`: the vendor refuses a request with that field, as Mistral does with 422.
   */
  readonly streamUsage: 'ask' | 'always' | 'never'
  /** The chat API has `top_k`, which OpenAI's refuses. */
  readonly takesTopK?: boolean
  /** The vendor fetches files by the address in `file_data`. */
  readonly takesFileAddresses?: boolean
  /** The vendor's public address has the Responses API. */
  readonly speaksResponses?: boolean
  /** A stream may end without `[DONE]`. */
  readonly isDoneOptional?: boolean
  /** Maps a status that the vendor uses with another meaning. */
  readonly mapStatus?: MapStatus
  /** The health probe of this kind. */
  readonly probe?: (baseUrl: string) => Probe
  /** How its embeddings differ from OpenAI's, or the binding of its own dialect. */
  readonly embed?: EmbedQuirks | ((target: DialectTarget) => EmbedEndpoint)
  readonly rerank?: (target: DialectTarget) => RerankEndpoint
}

const chatAndEmbed: readonly Capability[] = ['chat', 'embed']
const all: readonly Capability[] = ['chat', 'embed', 'rerank']

/** The rows, by the vendors' API references (linked) and SDKs as of November 2026. */
const vendors: readonly Vendor[] = [
  // https://platform.openai.com/docs/api-reference/chat
  {
    name: 'openai',
    baseUrl: 'https://api.openai.com/v1',
    capabilities: chatAndEmbed,
    streamUsage: 'ask',
    speaksResponses: true,
    // Servers of this format do not share a health path, and LM Studio logs unknown paths as errors.
    probe: probeAnswer('/models'),
  },
  // https://docs.vllm.ai/en/v0.32.0/serving/online_serving/
  {
    name: 'vllm',
    capabilities: all,
    streamUsage: 'ask',
    takesTopK: true,
    probe: probeHealth('/health'),
    embed: { limits: { items: 2048 }, mixed: imagesInChat },
    rerank: bindRerank,
  },
  // https://docs.mistral.ai/api
  {
    name: 'mistral',
    vendorName: 'mistral_ai',
    baseUrl: 'https://api.mistral.ai/v1',
    capabilities: chatAndEmbed,
    streamUsage: 'never',
    // The body may have no other fields. Older accounts allow 16,384 tokens in a request.
    embed: {
      limits: { items: 64, tokens: 14_000 },
      supportsTokenIds: false,
      dimensions: 'output_dimension',
    },
  },
  // https://docs.together.ai/reference/rerank-1
  {
    name: 'together',
    baseUrl: 'https://api.together.ai/v1',
    capabilities: all,
    streamUsage: 'ask',
    takesTopK: true,
    embed: { limits: { items: 128 }, dimensions: null },
    rerank: bindRerank,
  },
  // https://console.groq.com/docs/flex-processing
  {
    name: 'groq',
    baseUrl: 'https://api.groq.com/openai/v1',
    capabilities: chatAndEmbed,
    embedNeedsBaseUrl: true,
    streamUsage: 'always',
    // 498: the flex tier has no capacity.
    mapStatus: (status) => (status === 498 ? 429 : status),
  },
  // https://docs.fireworks.ai/api-reference/post-chatcompletions
  {
    name: 'fireworks',
    baseUrl: 'https://api.fireworks.ai/inference/v1',
    capabilities: chatAndEmbed,
    streamUsage: 'always',
    takesTopK: true,
    embed: { limits: { items: 128 } },
  },
  // https://api-docs.deepseek.com/
  {
    name: 'deepseek',
    baseUrl: 'https://api.deepseek.com',
    capabilities: chatAndEmbed,
    embedNeedsBaseUrl: true,
    streamUsage: 'always',
  },
  // https://openrouter.ai/docs/use-cases/usage-accounting
  {
    name: 'openrouter',
    baseUrl: 'https://openrouter.ai/api/v1',
    capabilities: chatAndEmbed,
    embedNeedsBaseUrl: true,
    streamUsage: 'ask',
    takesTopK: true,
    // https://openrouter.ai/docs/features/multimodal/pdfs
    takesFileAddresses: true,
  },
  // https://docs.perplexity.ai/docs/sonar/openai-compatibility
  {
    name: 'perplexity',
    baseUrl: 'https://api.perplexity.ai',
    capabilities: chatAndEmbed,
    embedNeedsBaseUrl: true,
    streamUsage: 'always',
    isDoneOptional: true,
    // Base64 vectors are int8, not float32: https://docs.perplexity.ai/api-reference/embeddings-post
    embed: { ...openAiEmbedDefaults, rejectsBase64: true },
  },
  // https://docs.x.ai/developers/debugging.md
  {
    name: 'xai',
    vendorName: 'x_ai',
    baseUrl: 'https://api.x.ai/v1',
    capabilities: chatAndEmbed,
    embedNeedsBaseUrl: true,
    streamUsage: 'ask',
    // xAI answers 400 to a wrong key.
    mapStatus: (status, message) => (status === 400 && /api key/i.test(message) ? 401 : status),
  },
  // https://reference.langchain.com/javascript/interfaces/_langchain_community.embeddings_deepinfra.DeepInfraEmbeddingsParams.html
  {
    name: 'deepinfra',
    baseUrl: 'https://api.deepinfra.com/v1/openai',
    capabilities: chatAndEmbed,
    streamUsage: 'ask',
    takesTopK: true,
    embed: { limits: { items: 1024 } },
  },
  // https://huggingface.co/docs/inference-endpoints/engines/tei.md
  {
    name: 'huggingface',
    baseUrl: 'https://router.huggingface.co/v1',
    capabilities: chatAndEmbed,
    streamUsage: 'ask',
    embed: huggingFaceEmbed,
  },
  // https://developers.cloudflare.com/workers-ai/configuration/open-ai-compatibility
  {
    name: 'cloudflare',
    // The address contains the account, so there is no default.
    capabilities: all,
    streamUsage: 'ask',
    embed: { limits: { items: 100 }, dimensions: null },
    rerank: cloudflareRerank,
  },
  // https://inference-docs.cerebras.ai/resources/openai
  {
    name: 'cerebras',
    baseUrl: 'https://api.cerebras.ai/v1',
    capabilities: chatAndEmbed,
    embedNeedsBaseUrl: true,
    streamUsage: 'always',
  },
  // https://docs.sambanova.ai/docs/en/features/openai-compatibility
  {
    name: 'sambanova',
    baseUrl: 'https://api.sambanova.ai/v1',
    capabilities: chatAndEmbed,
    embedNeedsBaseUrl: true,
    streamUsage: 'ask',
  },
  // https://docs.nvidia.com/nim/nemo-retriever/text-reranking/2.0.0/use-the-api-openai.html
  {
    name: 'nvidia',
    baseUrl: 'https://integrate.api.nvidia.com/v1',
    capabilities: all,
    streamUsage: 'ask',
    mapStatus: mapPendingStatus,
    probe: probeRootOn('nvidia.com', probeHealth('/v1/health/ready')),
    embed: nvidiaEmbed,
    rerank: nvidiaRerank,
  },
  // https://github.com/ollama/ollama/blob/main/docs/api.md
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

/** The kinds whose chat API receives the client's body unchanged, except for `model`. */
export const openAiCompatibleKinds: readonly ProviderKind[] = vendors.map(toKind)

function toKind(vendor: Vendor): ProviderKind {
  const { name, vendorName, baseUrl, capabilities, embedNeedsBaseUrl, keyless, rerank } = vendor
  const prefix = baseUrl === undefined ? '/v1' : new URL(baseUrl).pathname.replace(/\/+$/, '')
  return Object.freeze({
    name,
    capabilities,
    ownSettings: ['stream_usage', 'responses'],
    canFetchImages: true,
    ...(vendorName !== undefined && { vendorName }),
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
        form: {
          ...openAiForm,
          // Reasoning models of OpenAI refuse max_tokens; other servers know only that.
          boundField:
            name === 'openai' && !target.hasCustomBaseUrl ? 'max_completion_tokens' : 'max_tokens',
          asksStreamUsage: vendor.streamUsage === 'ask' && target.mayAskUsage,
          takesEffort: target.takesEffort,
          takesTopK: vendor.takesTopK ?? false,
          takesFileAddresses: vendor.takesFileAddresses ?? false,
        },
      }),
    native: {
      completions: (target) =>
        openAiCompletions({
          url: buildOperationUrl(target.baseUrl, prefix, '/completions'),
          upstreamId: target.upstreamId,
          streamUsage: vendor.streamUsage === 'ask' ? target.streamUsage : 'not-asked',
          isDoneOptional: vendor.isDoneOptional,
          mapStatus: vendor.mapStatus,
        }),
      responses: (target) => bindResponses(vendor, prefix, target),
    },
    embed: (target) => bindEmbed(vendor, prefix, target),
    ...(rerank && { rerank }),
  } satisfies ProviderKind)
}

/** `speaksResponses` of the configuration wins; a server at another address than the vendor's may lack it. */
function bindResponses(
  { speaksResponses = false, mapStatus }: Vendor,
  prefix: string,
  target: DialectTarget,
): NativeEndpoint | undefined {
  const { baseUrl, upstreamId, hasCustomBaseUrl } = target
  if (!(target.speaksResponses ?? (speaksResponses && !hasCustomBaseUrl))) return undefined
  const url = buildOperationUrl(baseUrl, prefix, '/responses')
  return openAiResponses({ url, upstreamId, mapStatus })
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
