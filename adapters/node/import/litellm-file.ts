import * as z from 'zod'
import { formatPath, isTable } from '../../../src/config/index.ts'
import { CommandFailure } from '../failures/command-failure.ts'

/*
 * The parts of a LiteLLM configuration that are converted. Other settings pass, and are reported.
 */

/** A time in seconds. */
const seconds = z.number().positive().max(2_000_000).nullish()

const callsAtOnce = z.int().min(1).max(1_000_000).nullish()

/** A limit of a deployment, which may be in a variable. */
const rate = z.union([z.number(), z.string()]).nullish()

const timeouts = { timeout: seconds, stream_timeout: seconds }

const paramsSchema = z.looseObject({
  model: z.string(),
  custom_llm_provider: z.string().nullish(),
  api_key: z.string().nullish(),
  api_base: z.string().nullish(),
  api_version: z.string().nullish(),
  vertex_project: z.string().nullish(),
  vertex_location: z.string().nullish(),
  vertex_credentials: z.string().nullish(),
  aws_region_name: z.string().nullish(),
  aws_profile_name: z.string().nullish(),
  weight: z.number().min(0).nullish(),
  order: z.number().nullish(),
  rpm: rate,
  tpm: rate,
  max_parallel_requests: callsAtOnce,
  ...timeouts,
  drop_params: z.boolean().nullish(),
  input_cost_per_token: z.number().nullish(),
  output_cost_per_token: z.number().nullish(),
})

const infoSchema = z.looseObject({
  mode: z.string().nullish(),
  input_cost_per_token: z.number().nullish(),
  output_cost_per_token: z.number().nullish(),
  max_input_tokens: z.int().min(1).max(1_000_000_000).nullish(),
  max_output_tokens: z.int().min(1).max(1_000_000_000).nullish(),
  supports_vision: z.boolean().nullish(),
})

const entrySchema = z.looseObject({
  model_name: z.string(),
  litellm_params: z.preprocess(renameParams, paramsSchema),
  model_info: infoSchema.nullish(),
})

/** Other names of the same parameters. An address that is not seen would send the requests to another server. */
const otherNames: ReadonlyMap<string, string> = new Map([
  ['base_url', 'api_base'],
  ['vertex_ai_project', 'vertex_project'],
  ['vertex_ai_location', 'vertex_location'],
  ['vertex_ai_credentials', 'vertex_credentials'],
])

/** Gives parameters their common names. One that has both names keeps the other one, too. */
function renameParams(params: unknown): unknown {
  if (!isTable(params)) return params
  const set = Object.entries(params).filter(([, value]) => value !== null && value !== undefined)
  const names = new Set(set.map(([name]) => name))
  return Object.fromEntries(
    set.map(([name, value]) => {
      const common = otherNames.get(name) ?? name
      return [names.has(common) ? name : common, value]
    }),
  )
}

const fallbackList = z.array(z.record(z.string(), z.array(z.string()))).nullish()

const sharedSettings = {
  fallbacks: fallbackList,
  context_window_fallbacks: fallbackList,
  content_policy_fallbacks: fallbackList,
  default_fallbacks: z.array(z.string()).nullish(),
  num_retries: z.int().min(0).max(99).nullish(),
  allowed_fails: z.int().min(0).max(999_999).nullish(),
  cooldown_time: z.number().min(0).max(86_400).nullish(),
}

const aliasSchema = z.looseObject({ model: z.string(), hidden: z.boolean().nullish() })

/** The address of a Redis server. */
const redisPort = z.union([z.int(), z.string()]).nullish()

const routerSchema = z.looseObject({
  ...sharedSettings,
  ...timeouts,
  routing_strategy: z.string().nullish(),
  default_max_parallel_requests: callsAtOnce,
  model_group_alias: z.record(z.string(), z.union([z.string(), aliasSchema])).nullish(),
  redis_url: z.string().nullish(),
  redis_host: z.string().nullish(),
  redis_port: redisPort,
  redis_password: z.string().nullish(),
})

const cacheSchema = z.looseObject({
  type: z.string().nullish(),
  ttl: z.number().positive().max(31_536_000).nullish(),
  mode: z.string().nullish(),
  supported_call_types: z.array(z.string()).nullish(),
  url: z.string().nullish(),
  host: z.string().nullish(),
  port: redisPort,
  password: z.string().nullish(),
  ssl: z.boolean().nullish(),
})

const ownSchema = z.looseObject({
  ...sharedSettings,
  request_timeout: seconds,
  drop_params: z.boolean().nullish(),
  json_logs: z.boolean().nullish(),
  cache: z.boolean().nullish(),
  cache_params: cacheSchema.nullish(),
})

const generalSchema = z.looseObject({ max_parallel_requests: callsAtOnce })

const fileSchema = z.looseObject({
  model_list: z.array(entrySchema),
  router_settings: routerSchema.nullish(),
  litellm_settings: ownSchema.nullish(),
  general_settings: generalSchema.nullish(),
  environment_variables: z.record(z.string(), z.unknown()).nullish(),
})

export type Entry = z.infer<typeof entrySchema>
export type CacheParams = z.infer<typeof cacheSchema>
export type LitellmFile = z.infer<typeof fileSchema>

/** The names of parameters that are converted. Rates are weights of a route at most, and no limit. */
export const knownParams = Object.keys(paramsSchema.shape).filter((name) => !/^[rt]pm$/.test(name))
/** The names in `model_info` that are converted, or of no use here. */
export const knownInfo = [...Object.keys(infoSchema.shape), 'id']
/** The names that are converted of the other tables. */
export const knownSettings = {
  router: Object.keys(routerSchema.shape),
  own: Object.keys(ownSchema.shape),
  general: ['master_key', ...Object.keys(generalSchema.shape)],
  cache: Object.keys(cacheSchema.shape),
  file: ['credential_list', ...Object.keys(fileSchema.shape)],
}

/** Checks the form of a parsed file. Throws a `CommandFailure` of code 2 with every problem. */
export function readLitellmFile(name: string, document: unknown): LitellmFile {
  const fail = (reason: string) => new CommandFailure(2, `${name}: ${reason}`)
  if (document === null || document === undefined) throw fail(`is empty; ${expected}`)
  if (!isTable(document)) {
    throw fail(`is ${Array.isArray(document) ? 'a list' : 'a single value'}; ${expected}`)
  }
  const list = document['model_list']
  if (list === null || list === undefined || (Array.isArray(list) && list.length === 0)) {
    const included = document['include'] === undefined ? '' : '; files of include are not read'
    throw fail(`no models in model_list, so there is nothing to convert${included}`)
  }
  const parsed = fileSchema.safeParse({ ...document, model_list: fillCredentials(document) })
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.map(({ path, message }) => {
    const place = formatPath(path.filter((part) => typeof part !== 'symbol'))
    return `${name}: ${place}: ${message.replace('Invalid input: ', '')}`
  })
  throw new CommandFailure(2, ...problems)
}

/** Fills in what `credential_list` has for the entries that name a credential. Their own parameters win. */
function fillCredentials({ model_list: list, credential_list: credentials }: Table): unknown {
  if (!Array.isArray(list) || !Array.isArray(credentials)) return list
  return list.map((entry: unknown) => {
    const params = isTable(entry) ? entry['litellm_params'] : undefined
    if (!isTable(entry) || !isTable(params)) return entry
    const { litellm_credential_name: name, ...own } = params
    const found: unknown = credentials.find(
      (each: unknown) => isTable(each) && each['credential_name'] === name,
    )
    const values = isTable(found) ? found['credential_values'] : undefined
    // The name of an unknown credential stays: without its address the model must be left out.
    return isTable(values) ? { ...entry, litellm_params: { ...values, ...own } } : entry
  })
}

type Table = Readonly<Record<string, unknown>>

const expected = 'expected a mapping with model_list, as a LiteLLM proxy reads it'
