import type { ChatRequest } from '../../../core/chat.ts'
import type { Profile } from '../../../core/profile.ts'
import { isObject } from '../../../wire/json/parse.ts'
import type { JsonObject } from './message.ts'

/** The format of the answer. Where the upstream does not know a schema, the instructions have it. */
export interface WrittenFormat {
  readonly fields: JsonObject
  /** A text for the system message. */
  readonly instruction: string | undefined
  readonly dropped: readonly string[]
}

const nothing: WrittenFormat = { fields: {}, instruction: undefined, dropped: [] }

export function writeFormat(
  { response_format: format }: ChatRequest,
  { profile, isThinking }: { readonly profile: Profile; readonly isThinking: boolean },
): WrittenFormat {
  if (!isObject(format) || format['type'] === 'text') return nothing
  const accepted =
    (isThinking ? profile.responseFormatsThinking : undefined) ?? profile.responseFormats
  const takesObject = accepted.includes('json_object')
  const takesSchema = accepted.includes('json_schema')
  const schema = isObject(format['json_schema']) ? format['json_schema']['schema'] : undefined
  switch (format['type']) {
    case 'json_schema': {
      if (takesSchema) return { ...nothing, fields: { response_format: format } }
      return {
        fields: takesObject ? { response_format: { type: 'json_object' } } : {},
        instruction: describe(schema),
        dropped: takesObject ? [] : ['response_format'],
      }
    }
    case 'json_object': {
      if (takesObject) return { ...nothing, fields: { response_format: format } }
      // Any object has this schema.
      const anyObject = { name: 'output', schema: { type: 'object' } }
      if (takesSchema) {
        return {
          ...nothing,
          fields: { response_format: { type: 'json_schema', json_schema: anyObject } },
        }
      }
      return { fields: {}, instruction: describe(undefined), dropped: ['response_format'] }
    }
    default:
      return { ...nothing, fields: { response_format: format } }
  }
}

/** Upstreams with `json_object` alone want the word JSON in the prompt. */
function describe(schema: unknown): string {
  if (schema === undefined) return 'Answer with one JSON object and nothing else.'
  return `Answer with one JSON object and nothing else. It must match this JSON schema:\n${JSON.stringify(schema)}`
}
