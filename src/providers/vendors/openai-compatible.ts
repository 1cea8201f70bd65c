import type { Capability } from '../../core/capability.ts'
import type { EmbedEndpoint, NativeEndpoint, RerankEndpoint } from '../../core/endpoints.ts'
import type { DialectTarget, Probe, ProviderKind } from '../../core/provider-kind.ts'
import { authorizeWithBearer } from '../base/credentials.ts'
import { imagesInChat } from '../base/embed-modality.ts'
import { type OpenAiModel, openAiLister } from '../base/model-list.ts'
import { probeAnswer, probeHealth, probeRootOn } from '../base/probe.ts'
import { buildOperationUrl } from '../base/request.ts'
import { resultsRerank } from '../base/rerank-results.ts'
import { type MapStatus } from '../base/vendor-error.ts'
import { openAiChat } from '../openai/chat.ts'
import { openAiCompletions } from '../openai/completions.ts'
import { bindDecisions, type DecisionQuirks } from '../openai/decisions.ts'
import { type EmbedQuirks, openAiEmbed, openAiEmbedDefaults } from '../openai/embed.ts'
import { openAiResponses } from '../openai/responses.ts'
import { listProfileNames, type ResolvedProfile, resolveProfile } from '../profiles/index.ts'
import { cloudflareDecisions, cloudflareRerank } from './cloudflare.ts'
import { huggingFaceEmbed, listHuggingFaceNames } from './huggingface.ts'
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
  /** The vendor's public address has the Responses API. */
  readonly speaksResponses?: boolean
  /** Maps a status that the vendor uses with another meaning. */
  readonly mapStatus?: MapStatus
  /** Its answers say what it charges: see `readStatedCost`. */
  readonly statesCost?: boolean
  /** Other names by which it serves a model of its list; `none` for a vendor without a list of its models. */
  readonly models?: 'none' | ((model: OpenAiModel) => readonly string[])
  /** The health probe of this kind. */
  readonly probe?: (baseUrl: string) => Probe
  /** How its embeddings differ from OpenAI's, or the binding of its own dialect. */
  readonly embed?: EmbedQuirks | ((target: DialectTarget) => EmbedEndpoint)
  readonly rerank?: (target: DialectTarget) => RerankEndpoint
  /** How its decisions differ from the usual; absent for a vendor without them. */
  readonly decisions?: DecisionQuirks
}

const chatAndEmbed: readonly Capability[] = ['chat', 'embed']
const all: readonly Capability[] = ['chat', 'embed', 'rerank']
const chatEmbedAndDecisions: readonly Capability[] = ['chat', 'embed', 'decisions']

/** At `{base_url}/systemone`. */
const typesafe: DecisionQuirks = { form: 'typesafe' }

/** The rows, by the vendors' API references (linked) and SDKs as of November 2026. */
const vendors: readonly Vendor[] = [
  // https://platform.openai.com/docs/api-reference/chat
  {
    name: 'openai',
    baseUrl: 'https://api.openai.com/v1',
    capabilities: chatEmbedAndDecisions,
    streamUsage: 'ask',
    speaksResponses: true,
    // Servers of this format do not share a health path, and LM Studio logs unknown paths as errors.
    probe: probeAnswer('/models'),
    decisions: { form: 'openai' },
  },
  // https://docs.vllm.ai/en/v0.32.0/serving/online_serving/
  {
    name: 'vllm',
    capabilities: [...all, 'decisions'],
    streamUsage: 'ask',
    probe: probeHealth('/health'),
    embed: { limits: { items: 2048 }, mixed: imagesInChat },
    rerank: bindRerank,
    decisions: typesafe,
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
    capabilities: chatEmbedAndDecisions,
    streamUsage: 'always',
    embed: { limits: { items: 128 } },
    decisions: typesafe,
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
    statesCost: true,
    // https://openrouter.ai/docs/guides/routing/model-variants
    models: ({ id }) => ['nitro', 'floor', 'online', 'exacto'].map((variant) => `${id}:${variant}`),
    baseUrl: 'https://openrouter.ai/api/v1',
    capabilities: chatEmbedAndDecisions,
    embedNeedsBaseUrl: true,
    streamUsage: 'ask',
    // https://openrouter.ai/docs/api-reference; beside the version path.
    decisions: {
      form: 'typesafe',
      statesCost: true,
      buildUrl: ({ baseUrl }) => replaceVersion(baseUrl, '/alpha/decisions'),
    },
  },
  // https://docs.perplexity.ai/docs/sonar/openai-compatibility
  {
    name: 'perplexity',
    statesCost: true,
    models: 'none',
    baseUrl: 'https://api.perplexity.ai',
    capabilities: chatEmbedAndDecisions,
    embedNeedsBaseUrl: true,
    streamUsage: 'always',
    // Base64 vectors are int8, not float32: https://docs.perplexity.ai/api-reference/embeddings-post
    embed: { ...openAiEmbedDefaults, rejectsBase64: true },
    decisions: {
      form: 'typesafe',
      buildUrl: ({ baseUrl }) => buildOperationUrl(baseUrl, '/v1', '/decisions'),
    },
  },
  // https://docs.x.ai/developers/debugging.md
  {
    name: 'xai',
    statesCost: true,
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
    embed: { limits: { items: 1024 } },
  },
  // https://huggingface.co/docs/inference-endpoints/engines/tei.md
  {
    name: 'huggingface',
    models: listHuggingFaceNames,
    baseUrl: 'https://router.huggingface.co/v1',
    capabilities: chatAndEmbed,
    streamUsage: 'ask',
    embed: huggingFaceEmbed,
  },
  // https://developers.cloudflare.com/workers-ai/configuration/open-ai-compatibility
  {
    name: 'cloudflare',
    models: 'none',
    // The address contains the account, so there is no default.
    capabilities: [...all, 'decisions'],
    streamUsage: 'ask',
    embed: { limits: { items: 100 }, dimensions: null },
    rerank: cloudflareRerank,
    decisions: cloudflareDecisions,
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
  // https://platform.moonshot.ai/docs/api/chat
  {
    name: 'moonshot',
    vendorName: 'moonshot_ai',
    baseUrl: 'https://api.moonshot.ai/v1',
    capabilities: chatAndEmbed,
    embedNeedsBaseUrl: true,
    streamUsage: 'ask',
  },
  // https://docs.z.ai/api-reference/introduction
  {
    name: 'zai',
    vendorName: 'z_ai',
    baseUrl: 'https://api.z.ai/api/paas/v4',
    capabilities: chatAndEmbed,
    embedNeedsBaseUrl: true,
    streamUsage: 'ask',
  },
  // https://platform.minimax.io/docs/api-reference/text-openai-api
  {
    name: 'minimax',
    baseUrl: 'https://api.minimax.io/v1',
    capabilities: chatAndEmbed,
    embedNeedsBaseUrl: true,
    streamUsage: 'ask',
  },
  // https://www.alibabacloud.com/help/en/model-studio/compatibility-of-openai-with-dashscope
  {
    name: 'dashscope',
    vendorName: 'alibaba_cloud',
    baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    capabilities: chatAndEmbed,
    streamUsage: 'ask',
    embed: { limits: { items: 10 } },
  },
  // https://docs.siliconflow.com/en/api-reference/chat-completions/chat-completions
  {
    name: 'siliconflow',
    baseUrl: 'https://api.siliconflow.com/v1',
    capabilities: chatAndEmbed,
    streamUsage: 'ask',
    embed: { limits: { items: 32 } },
  },
  // https://novita.ai/docs/guides/llm-api
  {
    name: 'novita',
    baseUrl: 'https://api.novita.ai/openai/v1',
    capabilities: chatAndEmbed,
    streamUsage: 'ask',
  },
  // https://docs.tokenfactory.nebius.com/quickstart
  {
    name: 'nebius',
    baseUrl: 'https://api.tokenfactory.nebius.com/v1',
    capabilities: chatAndEmbed,
    streamUsage: 'ask',
  },
  // https://platform.stepfun.com/docs/overview/quickstart
  {
    name: 'stepfun',
    baseUrl: 'https://api.stepfun.ai/v1',
    capabilities: chatAndEmbed,
    embedNeedsBaseUrl: true,
    streamUsage: 'ask',
  },
  // https://www.volcengine.com/docs/82379/1298454
  {
    name: 'volcengine',
    models: 'none',
    baseUrl: 'https://ark.cn-beijing.volces.com/api/v3',
    capabilities: chatAndEmbed,
    streamUsage: 'ask',
  },
  // https://docs.sglang.ai/basic_usage/openai_api.html
  {
    name: 'sglang',
    capabilities: chatAndEmbed,
    streamUsage: 'ask',
    probe: probeHealth('/health'),
  },
  // https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md
  {
    name: 'llamacpp',
    capabilities: chatAndEmbed,
    streamUsage: 'ask',
    probe: probeHealth('/health'),
  },
  // https://lmstudio.ai/docs/app/api/endpoints/openai; unknown paths are answered with 200.
  {
    name: 'lmstudio',
    capabilities: chatEmbedAndDecisions,
    streamUsage: 'ask',
    probe: probeAnswer('/models'),
    decisions: typesafe,
  },
  // https://github.com/ollama/ollama/blob/main/docs/api.md
  {
    name: 'ollama',
    // A name without a tag is that of `latest`.
    models: ({ id }) => (id.endsWith(':latest') ? [id.slice(0, -':latest'.length)] : []),
    baseUrl: 'http://localhost:11434/v1',
    capabilities: chatEmbedAndDecisions,
    keyless: true,
    streamUsage: 'ask',
    probe: probeHealth('/api/version'),
    embed: ollamaEmbed,
    decisions: typesafe,
  },
]

const profileNames = listProfileNames()
const kindNames = new Set(vendors.map(({ name }) => name))

/** The kinds whose chat API receives the client's body unchanged, except for `model`. */
export const openAiCompatibleKinds: readonly ProviderKind[] = vendors.map(toKind)

function toKind(vendor: Vendor): ProviderKind {
  const { name, vendorName, baseUrl, capabilities, embedNeedsBaseUrl, keyless, rerank } = vendor
  const { decisions } = vendor
  const prefix = baseUrl === undefined ? '/v1' : new URL(baseUrl).pathname.replace(/\/+$/, '')
  return Object.freeze({
    name,
    capabilities,
    ownSettings: ['stream_usage', 'responses', 'cost_field', 'cost_unit'],
    ...(vendor.statesCost && { statesCost: true }),
    profileNames,
    canFetchImages: true,
    ...(vendorName !== undefined && { vendorName }),
    ...(baseUrl !== undefined && { defaultBaseUrl: baseUrl }),
    ...(embedNeedsBaseUrl && { embedNeedsBaseUrl }),
    ...(keyless && { keyless }),
    ...(vendor.probe && { probe: vendor.probe }),
    ...(vendor.models !== 'none' && { models: openAiLister(prefix, vendor.models) }),
    createAuthorizer: authorizeWithBearer,
    ...(name === 'openai' && { findWarning: suggestKind }),
    chat: (target) =>
      openAiChat({
        url: buildOperationUrl(target.baseUrl, prefix, '/chat/completions'),
        upstreamId: target.upstreamId,
        modelId: target.modelId,
        streamUsage: vendor.streamUsage === 'ask' ? target.streamUsage : 'not-asked',
        asksStreamUsage: vendor.streamUsage === 'ask' && target.mayAskUsage,
        profile: toProfile(name, target),
        mapStatus: vendor.mapStatus,
        readCost: target.readCost,
      }),
    native: {
      completions: (target) =>
        openAiCompletions({
          url: buildOperationUrl(target.baseUrl, prefix, '/completions'),
          upstreamId: target.upstreamId,
          streamUsage: vendor.streamUsage === 'ask' ? target.streamUsage : 'not-asked',
          streamEnd: toProfile(name, target).profile.streamEnd,
          mapStatus: vendor.mapStatus,
          readCost: target.readCost,
        }),
      responses: (target) => bindResponses(vendor, prefix, target),
    },
    embed: (target) => bindEmbed(vendor, prefix, target),
    ...(rerank && { rerank }),
    ...(decisions && {
      decisions: (target) => bindDecisions(target, { ...decisions, mapStatus: vendor.mapStatus }),
    }),
  } satisfies ProviderKind)
}

/** Names the kind that is made for an address. Its profile is in force anyway, but not its other facts. */
function suggestKind(target: DialectTarget): string | undefined {
  const [platform = ''] = toProfile('openai', target).names
  if (!target.hasCustomBaseUrl || platform === 'openai' || target.profileSettings.length > 0)
    return undefined
  return kindNames.has(platform) ? `kind = "${platform}" is made for this address` : undefined
}

function toProfile(kind: string, target: DialectTarget): ResolvedProfile {
  return resolveProfile({ kind, ...target, settings: target.profileSettings })
}

/** `speaksResponses` of the configuration wins; a server at another address than the vendor's may lack it. */
function bindResponses(
  { name, speaksResponses = false, mapStatus }: Vendor,
  prefix: string,
  target: DialectTarget,
): NativeEndpoint | undefined {
  const { baseUrl, upstreamId, hasCustomBaseUrl, readCost } = target
  if (!(target.speaksResponses ?? (speaksResponses && !hasCustomBaseUrl))) return undefined
  const url = buildOperationUrl(baseUrl, prefix, '/responses')
  // Other servers of this API serve open models, whose reasoning is text.
  const refusesUnsigned = toProfile(name, target).names[0] === 'openai'
  return openAiResponses({ url, upstreamId, mapStatus, readCost, refusesUnsigned })
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

/** Builds the URL of an operation that is not below the version path of an address. */
function replaceVersion(baseUrl: string, operation: string): string {
  const url = new URL(buildOperationUrl(baseUrl, '/api', ''))
  url.pathname = `${url.pathname.replace(/\/(?:v1|alpha)$/, '')}${operation}`
  return url.href
}
