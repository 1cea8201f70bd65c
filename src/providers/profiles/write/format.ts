import type { ChatRequest } from '../../../core/chat.ts'
import type { Profile, ResponseFormatWord } from '../../../core/profile.ts'
import { isObject, type JsonObject } from '../../../wire/json/parse.ts'

/** The format of the answer. Where the upstream does not know a schema, the instructions have it. */
export interface WrittenFormat {
  readonly fields: JsonObject
  /** A text for the system message. */
  readonly instruction: string | undefined
  readonly dropped: readonly string[]
}

const nothing: WrittenFormat = { fields: {}, instruction: undefined, dropped: [] }

interface FormatContext {
  readonly profile: Profile
  readonly isThinking: boolean
  /** The request that is sent has tools. */
  readonly hasTools: boolean
}

export function writeFormat(
  { response_format: format }: ChatRequest,
  context: FormatContext,
): WrittenFormat {
  if (!isObject(format) || format['type'] === 'text') return nothing
  const takesObject = takes('json_object', context)
  const takesSchema = takes('json_schema', context)
  const { hasTools } = context
  const schema = isObject(format['json_schema']) ? format['json_schema']['schema'] : undefined
  switch (format['type']) {
    case 'json_schema': {
      if (takesSchema) return { ...nothing, fields: { response_format: format } }
      return {
        fields: takesObject ? { response_format: { type: 'json_object' } } : {},
        instruction: describe(schema, hasTools),
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
      return {
        fields: {},
        instruction: describe(undefined, hasTools),
        dropped: ['response_format'],
      }
    }
    default:
      return { ...nothing, fields: { response_format: format } }
  }
}

function takes(
  word: ResponseFormatWord,
  { profile, isThinking, hasTools }: FormatContext,
): boolean {
  const { responseFormats, responseFormatsThinking, responseFormatsWithTools } = profile
  if (isThinking && responseFormatsThinking?.includes(word) === false) return false
  if (hasTools && responseFormatsWithTools?.includes(word) === false) return false
  return responseFormats.includes(word)
}

/** Upstreams with `json_object` alone want the word JSON in the prompt. */
function describe(schema: unknown, hasTools: boolean): string {
  // A model that may answer with JSON alone calls no tools.
  const start = hasTools ? 'Unless you call a tool, answer' : 'Answer'
  const text = `${start} with one JSON object and nothing else.`
  if (schema === undefined) return text
  return `${text} It must match this JSON schema:\n${JSON.stringify(schema)}`
}
