import type { ProviderKind, StreamUsage } from '../../core/provider.ts'
import { openAiChat } from '../openai/chat.ts'
import { openAiEmbed, openAiEmbedDefaults } from '../openai/embed.ts'
import { authorizeWithBearer, authorizeWithHeader } from '../shared/credentials.ts'
import { getBasePath } from '../shared/request.ts'

/** The newest dated version that is generally available for inference; later ones are previews. */
const pinnedApiVersion = '2024-10-21'

/** Azure OpenAI, in the dated deployments form and in the v1 form of its address. */
export const azure: ProviderKind = Object.freeze({
  name: 'azure',
  capabilities: ['chat', 'embed'],
  ownSettings: ['api_version', 'stream_usage'],
  canFetchImages: true,
  createAuthorizer: (context) =>
    (isEntraToken(context.secret) ? authorizeWithBearer : authorizeWithHeader('api-key'))(context),
  chat({ baseUrl, apiVersion, upstreamId, streamUsage }) {
    const operation = '/chat/completions'
    const url = buildAzureUrl({ baseUrl, apiVersion, deployment: upstreamId, operation })
    return openAiChat({ url, upstreamId, streamUsage: resolveStreamUsage(url, streamUsage) })
  },
  embed: ({ baseUrl, apiVersion, upstreamId }) =>
    openAiEmbed({
      ...openAiEmbedDefaults,
      url: buildAzureUrl({ baseUrl, apiVersion, deployment: upstreamId, operation: '/embeddings' }),
      upstreamId,
    }),
} satisfies ProviderKind)

interface AzureUrlOptions {
  readonly baseUrl: string
  /** The provider's `api_version`; it wins over the query of `baseUrl`. */
  readonly apiVersion: string | undefined
  readonly deployment: string
  readonly operation: string
}

/**
 * The address of an operation. The path of `baseUrl` decides the form: one that ends in
 * `/openai/v1` is the v1 form, which takes no dated version; everything else is the deployments
 * form, which needs one. `api_version = "v1"` asks for the v1 form too.
 */
export function buildAzureUrl({
  baseUrl,
  apiVersion,
  deployment,
  operation,
}: AzureUrlOptions): string {
  const url = new URL(baseUrl)
  const path = getBasePath(url)
  const isV1 = apiVersion === 'v1' || /\/openai\/v1$/i.test(path)
  url.pathname = `${isV1 ? toV1Path(path) : toDeploymentPath(path, deployment)}${operation}`
  url.hash = ''
  const version = apiVersion === 'v1' ? undefined : apiVersion
  const fallback = isV1 ? null : pinnedApiVersion
  // One that stands in the query without a value is none.
  const inForce = version ?? (url.searchParams.get('api-version') || fallback)
  if (inForce !== null) url.searchParams.set('api-version', inForce)
  return url.href
}

/** The first dated version that knows `stream_options`; versions compare as texts. */
const firstWithStreamOptions = '2024-09-01'

/** Before that version only an operator may have streams asked for their usage: it would be a 400. */
function resolveStreamUsage(url: string, setting: StreamUsage): StreamUsage {
  const version = new URL(url).searchParams.get('api-version')
  const isTooOld = version !== null && version < firstWithStreamOptions
  return setting === 'shown' && isTooOld ? 'not-asked' : setting
}

function toV1Path(path: string): string {
  if (/\/openai\/v1$/i.test(path)) return path
  return /\/openai$/i.test(path) ? `${path}/v1` : `${path}/openai/v1`
}

function toDeploymentPath(path: string, deployment: string): string {
  // The user has fixed the deployment in the address.
  if (/\/openai\/deployments\/[^/]+$/i.test(path)) return path
  const root = /\/openai$/i.test(path) ? path : `${path}/openai`
  return `${root}/deployments/${encodeURIComponent(deployment)}`
}

/** Three base64url parts of which the first starts like JSON: a Microsoft Entra token. */
function isEntraToken(secret: string): boolean {
  return /^eyJ[\w-]*\.[\w-]+\.[\w-]+$/.test(secret)
}
