import * as z from 'zod'

/*
 * The parts of a LiteLLM configuration that are converted. Other settings pass, and are reported.
 */

const paramsSchema = z.looseObject({
  model: z.string(),
  api_key: z.string().optional(),
  api_base: z.string().optional(),
  api_version: z.string().optional(),
  weight: z.number().min(0).optional(),
  input_cost_per_token: z.number().optional(),
  output_cost_per_token: z.number().optional(),
})

const infoSchema = z.looseObject({
  mode: z.string().optional(),
  input_cost_per_token: z.number().optional(),
  output_cost_per_token: z.number().optional(),
  max_output_tokens: z.number().optional(),
  supports_vision: z.boolean().optional(),
})

const entrySchema = z.looseObject({
  model_name: z.string(),
  litellm_params: paramsSchema,
  model_info: infoSchema.optional(),
})

const fallbackList = z.array(z.record(z.string(), z.array(z.string()))).optional()

const settingsSchema = z.looseObject({
  fallbacks: fallbackList,
  num_retries: z.int().min(0).max(99).optional(),
})

export const litellmSchema = z.looseObject({
  model_list: z.array(entrySchema).default([]),
  router_settings: settingsSchema.extend({ routing_strategy: z.string().optional() }).optional(),
  litellm_settings: settingsSchema.optional(),
})

export type Entry = z.infer<typeof entrySchema>

/** The names of parameters that are converted. */
export const knownParams = Object.keys(paramsSchema.shape)
/** The names in `model_info` that are converted, or of no use here. */
export const knownInfo = [...Object.keys(infoSchema.shape), 'id']

export type LitellmFile = z.infer<typeof litellmSchema>
