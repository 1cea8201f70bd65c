import type { Environment } from '../../core/ports.ts'

/** AWS's own address, into which `resolveBaseUrl` fills the region. */
export const bedrockBaseUrl = 'https://bedrock-runtime.{region}.amazonaws.com'

const defaultRegion = 'us-east-1'

/** The settings that determine the region and the address of a request. */
export interface BedrockLocation {
  /** A URL, a bare region, or `bedrockBaseUrl`. */
  readonly baseUrl: string
  /** The configured model id. An ARN names its region. */
  readonly modelId: string
  /** The region in a JSON credential. */
  readonly credentialRegion: string | undefined
  readonly env: Environment
}

/** Builds the address of an operation on a model. The path of a configured address is kept. */
export function buildBedrockUrl(location: BedrockLocation, operation: string): string {
  const url = new URL(resolveBaseUrl(location.baseUrl, resolveRegion(location)))
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/model/${toPathSegment(location.modelId)}/${operation}`
  url.hash = ''
  return url.href
}

/** Returns the region of the requests and their signatures, `us-east-1` if none is configured. */
export function resolveRegion(location: BedrockLocation): string {
  return findConfiguredRegion(location) ?? defaultRegion
}

/** Returns the most explicit region: of the address, the ARN, the credential or the environment. */
export function findConfiguredRegion(location: BedrockLocation): string | undefined {
  const { baseUrl, modelId, credentialRegion, env } = location
  const candidates = [
    parseAddressRegion(baseUrl),
    parseArnRegion(modelId),
    credentialRegion,
    env['AWS_REGION'],
    env['AWS_DEFAULT_REGION'],
  ]
  return candidates.find((name) => name !== undefined && regionPattern.test(name))
}

/** Whether `base_url` is an address, which the region does not change. */
export function hasAddress({ baseUrl }: Pick<BedrockLocation, 'baseUrl'>): boolean {
  return URL.canParse(baseUrl) && baseUrl !== bedrockBaseUrl
}

/** Returns the configured address, or AWS's own in that region. */
export function resolveBaseUrl(baseUrl: string, region: string): string {
  if (hasAddress({ baseUrl })) return baseUrl
  return `https://bedrock-runtime.${region}.${findDomain(region)}`
}

/**
 * Builds an address of the control plane, which has a host of its own beside that of the runtime. A configured
 * address of another name, such as that of a proxy, is kept.
 */
export function buildControlUrl(location: BedrockLocation, path: string): URL {
  const url = new URL(resolveBaseUrl(location.baseUrl, resolveRegion(location)))
  url.hostname = url.hostname.replace(/(^|\.)bedrock-runtime(?=[.-])/, '$1bedrock')
  url.pathname = `${url.pathname.replace(/\/+$/, '')}${path}`
  url.hash = ''
  return url
}

/** Reads the model id back from an address that `buildBedrockUrl` has built. */
export function extractModelId(url: string): string {
  const [, segment = ''] = /\/model\/([^/]+)\//.exec(new URL(url).pathname) ?? []
  return decodeURIComponent(segment)
}

/** Matches `eu-west-1`, but not a host name such as `internal` in `bedrock-runtime.internal.example.com`. */
const regionPattern = /^[a-z]{2,}(?:-[a-z\d]+)*-\d$/

function parseAddressRegion(baseUrl: string): string | undefined {
  if (regionPattern.test(baseUrl)) return baseUrl
  if (!URL.canParse(baseUrl)) return undefined
  const { hostname } = new URL(baseUrl)
  return /^(?:vpce-[^.]+\.)?bedrock-runtime(?:-fips)?\.([a-z\d-]+)\./.exec(hostname)?.[1]
}

/** `arn:partition:service:region:account:resource` */
function parseArnRegion(modelId: string): string | undefined {
  return modelId.startsWith('arn:') ? modelId.split(':')[3] : undefined
}

function findDomain(region: string): string {
  if (region.startsWith('cn-')) return 'amazonaws.com.cn'
  return region.startsWith('eusc-') ? 'amazonaws.eu' : 'amazonaws.com'
}

/**
 * Percent-encodes the whole id, `:` and `/` of an ARN included, as the official client does. An id that
 * is already encoded is not encoded again.
 */
function toPathSegment(modelId: string): string {
  return encodeURIComponent(decode(modelId)).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

function decode(modelId: string): string {
  try {
    return decodeURIComponent(modelId)
  } catch {
    return modelId
  }
}
