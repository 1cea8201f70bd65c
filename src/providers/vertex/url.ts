import type { Environment } from '../../core/ports.ts'
import type { DialectTarget, Probe } from '../../core/provider-kind.ts'
import { probeRoot } from '../base/probe.ts'
import { type GoogleSecret, noCredential, parseGoogleSecret } from './auth/secret.ts'

/** The reason why the address of a model is unknown. */
export interface AddressProblem {
  readonly problem: string
}

/**
 * Returns the address of a model on Vertex AI, without `:method`. `base_url` is one of these: a
 * full address with project and location; a host or a location such as `europe-west4` or `global`,
 * for which the project comes from the credential or the environment; or the address of express
 * mode, with a publisher and no project.
 * https://cloud.google.com/vertex-ai/generative-ai/docs/learn/locations
 */
export function vertexModelUrl(target: AddressParts): URL | AddressProblem {
  const url = toBaseUrl(target.baseUrl)
  const path = resolveModelPath(parseAddress(url), target)
  if (typeof path !== 'string') return path
  url.pathname = path
  url.hash = ''
  return url
}

/** Returns the address of the list of models of a publisher, which belongs to no project. */
export function vertexListUrl(baseUrl: string): URL {
  const url = toBaseUrl(baseUrl)
  const { version, publisher = 'google' } = parseAddress(url)
  // Only this version has it.
  url.pathname = `${version.replace(/\/[^/]*$/, '')}/v1beta1/publishers/${publisher}/models`
  url.hash = ''
  return url
}

/** Probes the host, also when `base_url` is only a location. Any HTTP answer counts as alive. */
export function vertexProbe(baseUrl: string): Probe {
  return probeRoot(toBaseUrl(baseUrl).href)
}

type AddressParts = Pick<DialectTarget, 'baseUrl' | 'upstreamId' | 'secret' | 'cloud' | 'env'>

/** Returns the path of a model. Its name follows the same rules as in the official SDK. */
function resolveModelPath(
  address: ParsedAddress,
  { upstreamId: id, secret, cloud, env }: AddressParts,
): string | AddressProblem {
  const { version, publisher = 'google' } = address
  if (id.startsWith('projects/')) return `${version}/${id}`
  const parent = resolveParent(
    address,
    secret === undefined ? cloud && { kind: 'cloud' } : parseGoogleSecret(secret),
    env,
  )
  if (typeof parent !== 'string') return parent
  const root = `${version}${parent}`
  // A tuned model has an endpoint, whose name is a number.
  if (/^\d+$/.test(id)) return `${root}/endpoints/${id}`
  if (/^(?:endpoints|publishers)\//.test(id)) return `${root}/${id}`
  const [, vendor, name] = /^([^/]+)\/(.+)$/.exec(id) ?? [id, publisher, id]
  return `${root}/publishers/${vendor === 'models' ? publisher : vendor}/models/${name}`
}

/** The parts of a `base_url`. */
interface ParsedAddress {
  /** The path up to and including the version, `v1` by default. */
  readonly version: string
  readonly project: string | undefined
  readonly location: string | undefined
  readonly publisher: string | undefined
}

const addressPattern =
  /^(.*?)(?:\/projects\/([^/]+))?(?:\/locations\/([^/]+))?(?:\/publishers\/([^/]+).*)?$/

function parseAddress({ hostname, pathname }: URL): ParsedAddress {
  const [, prefix = '', project, location = parseLocation(hostname), publisher] =
    addressPattern.exec(pathname.replace(/\/+$/, '')) ?? []
  const version = /\/v\d[^/]*$/.test(prefix) ? prefix : `${prefix}/v1`
  return { version, project, location, publisher }
}

/**
 * Returns `/projects/P/locations/L`, or an empty path in express mode, which has no project in its
 * addresses.
 */
function resolveParent(
  { project, location, publisher }: ParsedAddress,
  secret: GoogleSecret | { readonly kind: 'cloud' } | undefined,
  env: Environment,
): string | AddressProblem {
  if (project !== undefined) return toParentPath(project, location)
  if (publisher !== undefined || secret?.kind === 'api-key') return ''
  if (secret?.kind === 'unusable') return { problem: secret.problem }
  const accountProject = secret?.kind === 'service-account' ? secret.project : undefined
  const laterProject =
    secret?.kind === 'file' || secret?.kind === 'cloud' ? projectPlaceholder : undefined
  return toParentPath(accountProject ?? (env['GOOGLE_CLOUD_PROJECT'] || laterProject), location)
}

/**
 * Placeholder for the project until the credentials file is read. It cannot be a real project,
 * because project ids have no capital letters.
 */
const projectPlaceholder = 'PROJECT-OF-CREDENTIALS'

/** Replaces the placeholder by the project of the credentials. Throws when they have no project. */
export function fillInProject(url: string, project: string | undefined): string {
  if (!url.includes(projectPlaceholder)) return url
  if (!project) throw noCredential(`its credentials have no project; ${remedy}`)
  return url.replace(projectPlaceholder, encodeURIComponent(project))
}

function toParentPath(
  project: string | undefined,
  location: string | undefined,
): string | AddressProblem {
  if (!project) return { problem: `its project is unknown; ${remedy}` }
  if (!location) return { problem: `its location is unknown; ${remedy}` }
  return `/projects/${project}/locations/${location}`
}

const remedy =
  'set base_url to the full address, https://LOCATION-aiplatform.googleapis.com/v1/projects/PROJECT/locations/LOCATION'

/**
 * Returns the address for a `base_url` that may be a bare location. A region has a host of its own;
 * `global` and the multi-regions `us` and `eu` have special hosts.
 * https://cloud.google.com/vertex-ai/generative-ai/docs/learn/locations
 */
function toBaseUrl(baseUrl: string): URL {
  if (URL.canParse(baseUrl)) return new URL(baseUrl)
  switch (baseUrl) {
    case 'global':
      return new URL('https://aiplatform.googleapis.com')
    case 'us':
    case 'eu':
      return new URL(`https://aiplatform.${baseUrl}.rep.googleapis.com`)
    default:
      return new URL(`https://${baseUrl}-aiplatform.googleapis.com`)
  }
}

function parseLocation(hostname: string): string | undefined {
  if (hostname === 'aiplatform.googleapis.com') return 'global'
  const [, region, multiRegion] =
    /^(?:([a-z\d-]+?)-aiplatform\b|aiplatform\.([a-z\d-]+)\.rep\.)/.exec(hostname) ?? []
  return region ?? multiRegion
}
