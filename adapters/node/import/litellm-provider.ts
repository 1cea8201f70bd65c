import type { Environment } from '../../../src/index.ts'
import { readCredential } from './litellm-credential.ts'
import type { Entry } from './litellm-file.ts'
import { splitModel } from './litellm-model.ts'
import type { Notes } from './litellm-notes.ts'
import type { ConvertedAddress } from './litellm-result.ts'
import { readTimeout, type Timeouts } from './litellm-timeout.ts'
import { ValueReader } from './litellm-values.ts'

export interface Upstream extends ConvertedAddress {
  readonly upstreamId: string
}

export interface UpstreamOptions {
  readonly env: Environment
  /** The name of the entry in notes. */
  readonly place: string
  readonly notes: Notes
  /** Those of the whole file. */
  readonly timeouts: Timeouts
}

/** Reads where an entry sends its requests; the reason, when the gateway cannot send them there. */
export function readUpstream(
  { model_name: name, litellm_params: params, model_info: info }: Entry,
  { env, place: entry, notes, timeouts }: UpstreamOptions,
): Upstream | string {
  const place = `${entry}.litellm_params.`
  const reader = new ValueReader(params, { env, place, notes })
  const unknown = findUnreadable(params)
  if (unknown !== undefined) return unknown
  const model = reader.text('model') ?? ''
  if (reader.problem !== undefined) return reader.problem
  const pattern = findPatternProblem(name, model)
  if (pattern !== undefined) return pattern
  const mode = info?.mode
  if (mode && !knownModes.has(mode)) return `the gateway has no API for mode ${mode}`
  const { kind, upstreamId } = splitModel(model, params.custom_llm_provider)
  if (kind === '') return `no kind for ${model}`
  const credential = readCredential(kind, reader)
  const region = findRegion(kind, reader, credential.address)
  if (reader.problem !== undefined) return reader.problem
  return {
    ...credential,
    kind,
    upstreamId,
    address: credential.address ?? region,
    timeout: readTimeout(params, { fallback: timeouts, place, notes }),
  }
}

/** Without these the model would get another address than it has in LiteLLM. */
function findUnreadable(params: Entry['litellm_params']): string | undefined {
  const credential = params['litellm_credential_name']
  if (credential !== undefined) return 'its litellm_credential_name is not in credential_list'
  if (params['base_url'] !== undefined) return 'api_base and base_url are two addresses'
  return undefined
}

/** Explains why a wildcard has no equal. One at the end of the name has one. */
function findPatternProblem(name: string, model: string): string | undefined {
  if (!name.includes('*') && !model.includes('*')) return undefined
  if (!name.endsWith('*') || name.indexOf('*') < name.length - 1) {
    return 'a pattern of the gateway has its * at the end of the id; list the models by their names'
  }
  if (model === '*') return 'the vendor depends on what the client writes; write a pattern for each'
  return model.split('*').length > 2 ? 'the model has more than one *' : undefined
}

const knownModes: ReadonlySet<string> = new Set([
  'chat',
  'completion',
  'responses',
  'embedding',
  'rerank',
  // Two names of the same.
  'decisions',
  'evaluation',
])

/** The parameters of a region, by kind. */
const regionNames: Readonly<Record<string, readonly string[]>> = {
  vertex_ai: ['vertex_project', 'vertex_location'],
  bedrock: ['aws_region_name'],
}

/** Returns the address of clouds, whose region is a parameter of its own in LiteLLM. */
function findRegion(
  kind: string,
  reader: ValueReader,
  address: string | undefined,
): string | undefined {
  const own = address === undefined ? regionNames[kind] : undefined
  const reason = address === undefined ? `not for kind ${kind}` : 'api_base has the address'
  for (const name of Object.values(regionNames).flat()) {
    if (!own?.includes(name)) reader.leave(name, reason)
  }
  if (own === undefined) return undefined
  if (!own.includes('vertex_project')) return reader.text('aws_region_name')
  const project = reader.text('vertex_project')
  const region = reader.text('vertex_location') ?? 'us-central1'
  if (project === undefined) return region
  const host = region === 'global' ? '' : `${region}-`
  return `https://${host}aiplatform.googleapis.com/v1/projects/${project}/locations/${region}`
}
