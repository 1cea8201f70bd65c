import type { Environment } from '../../core/ports.ts'
import type { DialectTarget, Probe } from '../../core/provider.ts'
import { probeRoot } from '../shared/probe.ts'
import { type GoogleSecret, noCredential, parseGoogleSecret } from './auth/secret.ts'

/** Why the address of a model cannot be known. */
export interface AddressProblem {
  readonly problem: string
}

/**
 * The address of a model on Vertex AI, to which `:method` is added. `base_url` is whole, down to
 * project and location; or a host, or a bare location such as `europe-west4` or `global`, and what
 * it lacks is looked up; or the address of express mode, with a publisher and no project.
 */
export function vertexModelUrl(target: AddressParts): URL | AddressProblem {
  const url = toBaseUrl(target.baseUrl)
  const path = resolveModelPath(parseAddress(url), target)
  if (typeof path !== 'string') return path
  url.pathname = path
  url.hash = ''
  return url
}

/** Bare reachability of the host, also where only a location is given. */
export function vertexProbe(baseUrl: string): Probe {
  return probeRoot(toBaseUrl(baseUrl).href)
}

type AddressParts = Pick<DialectTarget, 'baseUrl' | 'upstreamId' | 'secret' | 'env'>

/** The path of a model, by the same rules for its name as in the official SDK. */
function resolveModelPath(
  address: ParsedAddress,
  { upstreamId: id, secret, env }: AddressParts,
): string | AddressProblem {
  const { version, publisher = 'google' } = address
  if (id.startsWith('projects/')) return `${version}/${id}`
  const parent = resolveParent(
    address,
    secret === undefined ? undefined : parseGoogleSecret(secret),
    env,
  )
  if (typeof parent !== 'string') return parent
  const root = `${version}${parent}`
  // Tuned models are reached through an endpoint with a number for a name.
  if (/^\d+$/.test(id)) return `${root}/endpoints/${id}`
  if (/^(?:endpoints|publishers)\//.test(id)) return `${root}/${id}`
  const [, vendor, name] = /^([^/]+)\/(.+)$/.exec(id) ?? [id, publisher, id]
  return `${root}/publishers/${vendor === 'models' ? publisher : vendor}/models/${name}`
}

/** What the path of an address tells. */
interface ParsedAddress {
  /** Everything up to the version, which is `v1` where none is given. */
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

/** `/projects/P/locations/L`; nothing in express mode, where an API key stands for a project. */
function resolveParent(
  { project, location, publisher }: ParsedAddress,
  secret: GoogleSecret | undefined,
  env: Environment,
): string | AddressProblem {
  if (project !== undefined) return toParentPath(project, location)
  if (publisher !== undefined || secret?.kind === 'api-key') return ''
  if (secret?.kind === 'unusable') return { problem: secret.problem }
  const ofAccount = secret?.kind === 'service-account' ? secret.project : undefined
  const ofFile = secret?.kind === 'file' ? projectPlaceholder : undefined
  return toParentPath(ofAccount ?? (env['GOOGLE_CLOUD_PROJECT'] || ofFile), location)
}

/**
 * Stands where the project will, as long as the file of the credentials has not been read. No
 * project has capitals in its name.
 */
const projectPlaceholder = 'PROJECT-OF-CREDENTIALS'

/** The address with the project of the credentials, once that is known. */
export function fillInProject(url: string, project: string | undefined): string {
  if (!url.includes(projectPlaceholder)) return url
  if (!project) throw noCredential(`its credentials name no project; ${remedy}`)
  return url.replace(projectPlaceholder, encodeURIComponent(project))
}

function toParentPath(
  project: string | undefined,
  location: string | undefined,
): string | AddressProblem {
  if (!project) return { problem: `its project is not known; ${remedy}` }
  if (!location) return { problem: `its location is not known; ${remedy}` }
  return `/projects/${project}/locations/${location}`
}

const remedy =
  'write base_url in full, https://LOCATION-aiplatform.googleapis.com/v1/projects/PROJECT/locations/LOCATION'

/** Regions have a host each; `global` and the multi-regions `us` and `eu` have names of their own. */
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
