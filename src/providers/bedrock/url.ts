import type { Environment } from '../../core/ports.ts'

/** Stands for AWS's own address; the region is filled in. */
export const bedrockBaseUrl = 'https://bedrock-runtime.{region}.amazonaws.com'

const defaultRegion = 'us-east-1'

export interface BedrockPlace {
  /** A URL, a bare region, or `bedrockBaseUrl`. */
  readonly baseUrl: string
  /** The configured model id: it may be an ARN, which names its region. */
  readonly modelId: string
  /** The region that a JSON credential names. */
  readonly credentialRegion: string | undefined
  readonly env: Environment
}

/** The address of an operation on a model. The path of a configured address is kept. */
export function bedrockUrl(place: BedrockPlace, operation: string): string {
  const url = new URL(bedrockBase(place.baseUrl, bedrockRegion(place)))
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/model/${pathSegment(place.modelId)}/${operation}`
  url.hash = ''
  return url.href
}

/** The region that requests go to, and that signatures are for. */
export function bedrockRegion(place: BedrockPlace): string {
  return namedRegion(place) ?? defaultRegion
}

/** The region that is named anywhere: the most explicit one counts. */
export function namedRegion(place: BedrockPlace): string | undefined {
  const { baseUrl, modelId, credentialRegion, env } = place
  const candidates = [
    regionInAddress(baseUrl),
    regionInArn(modelId),
    credentialRegion,
    env['AWS_REGION'],
    env['AWS_DEFAULT_REGION'],
  ]
  return candidates.find((name) => name !== undefined && regionName.test(name))
}

/** True where the address is the user's own, and the region changes nothing of it. */
export function hasAddress({ baseUrl }: Pick<BedrockPlace, 'baseUrl'>): boolean {
  return URL.canParse(baseUrl) && baseUrl !== bedrockBaseUrl
}

/** The address itself, or AWS's own in that region. */
export function bedrockBase(baseUrl: string, region: string): string {
  if (hasAddress({ baseUrl })) return baseUrl
  return `https://bedrock-runtime.${region}.${domainOf(region)}`
}

/** The model id of an address that `bedrockUrl` has made. */
export function modelIdIn(url: string): string {
  const [, segment = ''] = /\/model\/([^/]+)\//.exec(new URL(url).pathname) ?? []
  return decodeURIComponent(segment)
}

/** `eu-west-1`. A word alone is the name of a host, as in `bedrock-runtime.internal.example.com`. */
const regionName = /^[a-z]{2,}(?:-[a-z\d]+)*-\d$/

function regionInAddress(baseUrl: string): string | undefined {
  if (regionName.test(baseUrl)) return baseUrl
  if (!URL.canParse(baseUrl)) return undefined
  const { hostname } = new URL(baseUrl)
  return /^(?:vpce-[^.]+\.)?bedrock-runtime(?:-fips)?\.([a-z\d-]+)\./.exec(hostname)?.[1]
}

/** `arn:partition:service:region:account:resource` */
function regionInArn(modelId: string): string | undefined {
  return modelId.startsWith('arn:') ? modelId.split(':')[3] : undefined
}

function domainOf(region: string): string {
  if (region.startsWith('cn-')) return 'amazonaws.com.cn'
  return region.startsWith('eusc-') ? 'amazonaws.eu' : 'amazonaws.com'
}

/**
 * The whole id, percent-encoded once, as the official client sends it: `:` and the `/` of an ARN
 * too. An id that is encoded already must not be encoded again.
 */
function pathSegment(modelId: string): string {
  return encodeURIComponent(decoded(modelId)).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

function decoded(modelId: string): string {
  try {
    return decodeURIComponent(modelId)
  } catch {
    return modelId
  }
}
