import * as z from 'zod'
import { formatPath, isTable } from '../../../src/config/index.ts'
import { CommandFailure } from '../failures/command-failure.ts'

/*
 * The parts of a LiteLLM configuration that are converted. Other settings pass, and are reported.
 */

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
  weight: z.number().min(0).nullish(),
  input_cost_per_token: z.number().nullish(),
  output_cost_per_token: z.number().nullish(),
})

const infoSchema = z.looseObject({
  mode: z.string().nullish(),
  input_cost_per_token: z.number().nullish(),
  output_cost_per_token: z.number().nullish(),
  max_output_tokens: z.number().nullish(),
  supports_vision: z.boolean().nullish(),
})

const entrySchema = z.looseObject({
  model_name: z.string(),
  litellm_params: paramsSchema,
  model_info: infoSchema.nullish(),
})

const fallbackList = z.array(z.record(z.string(), z.array(z.string()))).nullish()

const sharedSettings = {
  fallbacks: fallbackList,
  default_fallbacks: z.array(z.string()).nullish(),
  num_retries: z.int().min(0).max(99).nullish(),
  allowed_fails: z.int().min(0).max(999_999).nullish(),
  cooldown_time: z.number().min(0).max(86_400).nullish(),
}

const routerSchema = z.looseObject({
  ...sharedSettings,
  routing_strategy: z.string().nullish(),
  model_group_alias: z
    .record(z.string(), z.union([z.string(), z.looseObject({ model: z.string() })]))
    .nullish(),
})

const ownSchema = z.looseObject({ ...sharedSettings, drop_params: z.boolean().nullish() })

const fileSchema = z.looseObject({
  model_list: z.array(entrySchema),
  router_settings: routerSchema.nullish(),
  litellm_settings: ownSchema.nullish(),
  general_settings: z.looseObject({}).nullish(),
})

export type Entry = z.infer<typeof entrySchema>
export type LitellmFile = z.infer<typeof fileSchema>

/** The names of parameters that are converted. */
export const knownParams = Object.keys(paramsSchema.shape)
/** The names in `model_info` that are converted, or of no use here. */
export const knownInfo = [...Object.keys(infoSchema.shape), 'id']
/** The names that are converted of `router_settings` and of `litellm_settings`. */
export const knownRouter = Object.keys(routerSchema.shape)
export const knownOwn = Object.keys(ownSchema.shape)

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
  const parsed = fileSchema.safeParse(document)
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.map(({ path, message }) => {
    const place = formatPath(path.filter((part) => typeof part !== 'symbol'))
    return `${name}: ${place}: ${message.replace('Invalid input: ', '')}`
  })
  throw new CommandFailure(2, ...problems)
}

const expected = 'expected a mapping with model_list, as a LiteLLM proxy reads it'
