import type { Environment } from '../../../src/index.ts'
import type { Entry } from './litellm-file.ts'
import { splitModel } from './litellm-model.ts'
import type { Notes } from './litellm-notes.ts'

/** Where an entry sends its requests. */
export interface Upstream {
  readonly kind: string
  readonly upstreamId: string
  readonly variable: string | undefined
  readonly address: string | undefined
  readonly version: string | undefined
}

export interface UpstreamOptions {
  readonly env: Environment
  /** The name of the entry in notes. */
  readonly place: string
  readonly notes: Notes
}

/** Reads where an entry sends its requests; the reason, when the gateway cannot send them there. */
export function readUpstream(
  { model_name: name, litellm_params: params, model_info: info }: Entry,
  options: UpstreamOptions,
): Upstream | string {
  const reader = new ParameterReader(params, options)
  const model = reader.text('model') ?? ''
  const address = reader.text('api_base')
  const version = reader.text('api_version')
  const project = reader.text('vertex_project')
  const region = reader.text('vertex_location')
  const awsRegion = reader.text('aws_region_name')
  if (reader.problem !== undefined) return reader.problem
  if (name.includes('*') || model.includes('*')) {
    return 'a pattern; a model of the gateway has one id, so list the models by their names'
  }
  const mode = info?.mode
  if (mode && !knownModes.has(mode)) return `the gateway has no API for mode ${mode}`
  const { kind, upstreamId } = splitModel(model, params.custom_llm_provider)
  if (kind === '') return `no kind for ${model}`
  const place = findPlace({ kind, project, region, awsRegion })
  return {
    kind,
    upstreamId,
    variable: reader.variable('api_key') ?? reader.variable('vertex_credentials'),
    address: address ?? place,
    version,
  }
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

interface Place {
  readonly kind: string
  readonly project: string | undefined
  readonly region: string | undefined
  readonly awsRegion: string | undefined
}

/** Returns the address of clouds, whose region is a parameter of its own in LiteLLM. */
function findPlace({ kind, project, region = 'us-central1', awsRegion }: Place) {
  if (kind === 'bedrock') return awsRegion
  if (kind !== 'vertex_ai') return undefined
  if (project === undefined) return region
  const host = region === 'global' ? '' : `${region}-`
  return `https://${host}aiplatform.googleapis.com/v1/projects/${project}/locations/${region}`
}

type Params = Entry['litellm_params']

/** Reads parameters whose value may be `os.environ/NAME`. */
class ParameterReader {
  readonly #params: Params
  readonly #options: UpstreamOptions
  /** The first value that cannot be read. */
  problem: string | undefined

  constructor(params: Params, options: UpstreamOptions) {
    this.#params = params
    this.#options = options
  }

  /** Returns a text. The file of the gateway names no variables for texts, so it gets the present value. */
  text(name: keyof Params & string): string | undefined {
    const value = this.#params[name]
    if (typeof value !== 'string' || value === '') return undefined
    const variable = readVariable(value)
    if (variable === undefined) return value
    const { env, place, notes } = this.#options
    const found = env[variable]
    if (!found || hasCredential(found)) {
      const state = found ? 'holds an address with a credential' : 'is not set'
      this.problem ??= `${name} is in the variable ${variable}, which ${state}; set it for this command, or write the value into the file`
      return undefined
    }
    notes.next.push(`${place}.litellm_params.${name}: this is the value that ${variable} has now`)
    return found
  }

  /** Returns the variable of a key. A key in the file itself is noted without its value. */
  variable(name: 'api_key' | 'vertex_credentials'): string | undefined {
    const value = this.#params[name]
    if (!value) return undefined
    const variable = readVariable(value)
    const { place, notes } = this.#options
    if (variable === undefined) {
      notes.left.push(
        `${place}.litellm_params.${name}: put this key into a variable, and name it in api_key_env`,
      )
    }
    return variable
  }
}

function readVariable(value: string): string | undefined {
  return /^os\.environ\/(\w+)$/.exec(value)?.[1]
}

function hasCredential(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { username, password, search } = new URL(text)
  return username !== '' || password !== '' || search !== ''
}
