import * as z from 'zod'
import { list, loose } from '../../core/as-sent.ts'
import { toCamelCase } from '../base/camel-case.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import { jsonObject } from '../canonical/tools.ts'
import { googleFieldNames, parseRequestFields } from '../canonical/vendor-fields.ts'

/** Google's own fields, as its OpenAI-compatible API names them: https://ai.google.dev/gemini-api/docs/openai */
const ownFields = loose({
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

export type OwnFields = z.infer<typeof ownFields>

const none: OwnFields = {}

/** Reads Google's own fields. Throws `UntranslatableError` for one of a wrong type. */
export function readOwnFields(request: CanonicalRequest): OwnFields {
  // Few requests have one, and a request is read several times.
  const { raw } = request
  const hasOwn = googleFieldNames.some((name) => raw[name] !== undefined && raw[name] !== null)
  return hasOwn ? parseRequestFields(ownFields, request) : none
}

/** The members of the body that hold the client's own fields. */
export function toOwnMembers(own: OwnFields): object {
  return {
    safetySettings: own.safety_settings ?? undefined,
    cachedContent: own.cached_content ?? undefined,
    labels: own.labels ?? undefined,
  }
}

/** The members of `generationConfig` that hold the client's own fields. */
export function toOwnConfig(own: OwnFields): object {
  return {
    imageConfig: own.image_config ? toCamelCase(own.image_config) : undefined,
    mediaResolution: own.media_resolution ?? undefined,
  }
}
