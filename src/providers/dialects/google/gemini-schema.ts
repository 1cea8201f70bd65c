import type { Raw } from '../openai/messages.ts'
import { jsonSchema } from './gemini-json-schema.ts'
import type { GeminiModel } from './gemini-model.ts'
import { openApiSchema } from './gemini-openapi-schema.ts'

/*
 * Gemini takes schemas in two forms, each in a field of its own: a subset of OpenAPI 3.0 that all
 * models know, and a subset of JSON Schema for newer models. The first is used wherever it can say
 * everything, because it is the better tried one.
 */

/** The fields of a function declaration that hold its parameters; none for a function without any. */
export function functionSchema(
  schema: Raw,
  { model, place }: { readonly model: GeminiModel; readonly place: string },
): object {
  const { openApi, isLossless } = openApiSchema(schema, place)
  if (!openApi) return {}
  return isLossless || !model.takesJsonSchema
    ? { parameters: openApi }
    : { parametersJsonSchema: jsonSchema(schema, place) }
}

/** The fields of `generationConfig` that hold the schema of the answer. */
export function responseSchema(
  schema: Raw,
  { model, hasTools }: { readonly model: GeminiModel; readonly hasTools: boolean },
): object {
  const place = 'response_format.json_schema.schema'
  const { openApi, isLossless } = openApiSchema(schema, place)
  if (!openApi) return {}
  // Together with tools only this form is known to work.
  return hasTools || (!isLossless && model.takesJsonSchema)
    ? { responseJsonSchema: jsonSchema(schema, place) }
    : { responseSchema: openApi }
}
