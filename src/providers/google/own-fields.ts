import * as z from 'zod'
import { list, loose } from '../../core/as-sent.ts'
import { jsonObject } from '../canonical/tools.ts'
import { createOwnReader } from '../canonical/vendor-fields.ts'

/**
 * Reads Google's own fields, as its OpenAI-compatible API names them:
 * https://ai.google.dev/gemini-api/docs/openai
 */
export const readOwnFields = createOwnReader({
  thinking_config: loose({
    thinking_budget: z.int().nullish(),
    thinking_level: z.string().nullish(),
    include_thoughts: z.boolean().nullish(),
  }).nullish(),
  safety_settings: list(loose({})).nullish(),
  cached_content: z.string().nullish(),
  labels: jsonObject,
  image_config: jsonObject,
  media_resolution: z.string().nullish(),
})
