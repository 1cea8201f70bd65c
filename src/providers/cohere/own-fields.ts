import * as z from 'zod'
import { list, loose } from '../../core/as-sent.ts'
import { jsonObject } from '../canonical/tools.ts'
import { createOwnReader } from '../canonical/vendor-fields.ts'

/** Reads Cohere's own fields: https://docs.cohere.com/reference/chat */
export const readOwnFields = createOwnReader({
  documents: list(z.union([z.string(), loose({})])).nullish(),
  citation_options: jsonObject,
  safety_mode: z.string().nullish(),
})
