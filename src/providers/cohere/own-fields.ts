import * as z from 'zod'
import { list, loose } from '../../core/as-sent.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import { jsonObject } from '../canonical/tools.ts'
import { parseRequestFields } from '../canonical/vendor-fields.ts'

/** Cohere's own fields: https://docs.cohere.com/reference/chat */
const ownFields = loose({
  documents: list(z.union([z.string(), loose({})])).nullish(),
  citation_options: jsonObject,
  safety_mode: z.string().nullish(),
})

/** Returns the members of the body that hold the client's own fields. */
export function toOwnFields(request: CanonicalRequest): object {
  const { documents, citation_options, safety_mode } = parseRequestFields(ownFields, request)
  return {
    ...(documents && { documents }),
    ...(citation_options && { citation_options }),
    ...(safety_mode && { safety_mode }),
  }
}
