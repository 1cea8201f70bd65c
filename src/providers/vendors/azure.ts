import type { DialectTarget, ProviderKind, StreamUsage } from '../../core/provider-kind.ts'
import { authorizeWithCloudToken } from '../base/cloud-token.ts'
import { authorizeWithBearer, authorizeWithHeader } from '../base/credentials.ts'
import { getBasePath } from '../base/request.ts'
import { openAiChat } from '../openai/chat.ts'
import { openAiCompletions } from '../openai/completions.ts'
import { bindDecisions } from '../openai/decisions.ts'
import { openAiEmbed, openAiEmbedDefaults } from '../openai/embed.ts'
import { openAiResponses } from '../openai/responses.ts'
import { listProfileNames, resolveProfile } from '../profiles/index.ts'

/**
 * The newest dated version that is generally available for inference; later ones are previews. See
 * https://learn.microsoft.com/en-us/azure/ai-services/openai/reference
 */
const pinnedApiVersion = '2024-10-21'

/** Azure OpenAI, with both forms of its address: deployments (dated) and v1. */
export const azure: ProviderKind = Object.freeze({
  name: 'azure',
  vendorName: 'azure.ai.openai',
  capabilities: ['chat', 'embed', 'decisions'],
  cloud: 'azure',
  ownSettings: ['api_version', 'stream_usage', 'responses', 'cost_field', 'cost_unit'],
  profileNames: listProfileNames(),
  canFetchImages: true,
  createAuthorizer: (context) =>
    (isEntraToken(context.secret) ? authorizeWithBearer : authorizeWithHeader('api-key'))(context),
  createCloudAuthorizer: authorizeWithCloudToken,
  chat(target) {
    const { baseUrl, apiVersion, upstreamId, modelId, streamUsage, mayAskUsage } = target
    const operation = '/chat/completions'
    const url = buildAzureUrl({ baseUrl, apiVersion, deployment: upstreamId, operation })
    const asksStreamUsage = mayAskUsage && resolveStreamUsage(url, 'shown') === 'shown'
    return openAiChat({
      url,
      upstreamId,
      modelId,
      streamUsage: resolveStreamUsage(url, streamUsage),
      asksStreamUsage,
      readCost: target.readCost,
      profile: resolveProfile({ kind: 'azure', ...target, settings: target.profileSettings }),
    })
  },
  native: {
    completions({ baseUrl, apiVersion, upstreamId, streamUsage, readCost }) {
      const operation = '/completions'
      const url = buildAzureUrl({ baseUrl, apiVersion, deployment: upstreamId, operation })
      return openAiCompletions({
        url,
        upstreamId,
        streamUsage: resolveStreamUsage(url, streamUsage),
        readCost,
      })
    },
    // Only the v1 form has it without a preview version.
    responses: ({ baseUrl, upstreamId, speaksResponses, readCost }) =>
      speaksResponses
        ? openAiResponses({
            url: buildV1Url(baseUrl, '/responses'),
            upstreamId,
            readCost,
            refusesUnsigned: true,
          })
        : undefined,
  },
  embed: ({ baseUrl, apiVersion, upstreamId }) =>
    openAiEmbed({
      ...openAiEmbedDefaults,
      url: buildAzureUrl({ baseUrl, apiVersion, deployment: upstreamId, operation: '/embeddings' }),
      upstreamId,
    }),
  decisions: (target) => bindDecisions(target, { form: 'openai', buildUrl: buildDecisionsUrl }),
} satisfies ProviderKind)

interface AzureUrlOptions {
  readonly baseUrl: string
  /** The provider's `api_version`, which overrides the query of `baseUrl`. */
  readonly apiVersion: string | undefined
  readonly deployment: string
  readonly operation: string
}

/**
 * Builds the URL of an operation. A path of `baseUrl` that ends in `/openai/v1`, or `api_version = "v1"`,
 * selects the v1 form, which has no dated version. Any other path selects the deployments form, which
 * requires one.
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
  // An `api-version` in the query without a value counts as absent.
  const effective = version ?? (url.searchParams.get('api-version') || fallback)
  if (effective !== null) url.searchParams.set('api-version', effective)
  return url.href
}

/**
 * Models of OpenAI have decisions in the v1 form; those of Microsoft have them in TypeSafe's form at a path of their
 * own. https://learn.microsoft.com/azure/ai-foundry
 */
function buildDecisionsUrl({ baseUrl, decisionForm }: DialectTarget): string {
  if (decisionForm !== 'typesafe') return buildV1Url(baseUrl, '/decisions')
  const url = new URL(baseUrl)
  const resource = getBasePath(url).replace(
    /(?:\/api\/projects\/[^/]+)?(?:\/openai(?:\/v1|\/deployments\/[^/]+)?|\/models|\/v1)?$/i,
    '',
  )
  url.pathname = `${resource}/providers/microsoft/v1/systemone`
  url.search = ''
  url.hash = ''
  return url.href
}

/** https://learn.microsoft.com/azure/ai-foundry/openai/how-to/responses */
function buildV1Url(baseUrl: string, operation: string): string {
  const url = new URL(baseUrl)
  url.pathname = getBasePath(url).replace(/\/deployments\/[^/]+$/i, '')
  url.searchParams.delete('api-version')
  return buildAzureUrl({ baseUrl: url.href, apiVersion: 'v1', deployment: '', operation })
}

/** The first dated version with `stream_options`. Versions compare as strings. */
const firstWithStreamOptions = '2024-09-01'

/** Older versions answer 400 to `stream_options`, so the gateway adds it only when configured to. */
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
  // The address names a fixed deployment.
  if (/\/openai\/deployments\/[^/]+$/i.test(path)) return path
  const root = /\/openai$/i.test(path) ? path : `${path}/openai`
  return `${root}/deployments/${encodeURIComponent(deployment)}`
}

/** True for a JWT: a Microsoft Entra token has three base64url parts, of which the first is JSON. */
function isEntraToken(secret: string): boolean {
  return /^eyJ[\w-]*\.[\w-]+\.[\w-]+$/.test(secret)
}
