import type { Raw } from '../../canonical/messages.ts'
import type { GeminiModel } from '../models.ts'
import { jsonSchema } from './json.ts'
import { openApiSchema } from './openapi.ts'
import { CopyBudget } from './read.ts'

/*
 * Gemini takes schemas in two forms, each in a field of its own: a subset of OpenAPI 3.0 that all
 * models know, and a subset of JSON Schema for newer models. The first is used wherever it can say
 * everything, because it is the better tried one.
 */

/** What all schemas of one request share. A schema that is too large for one form gets the other. */
export interface SchemaBudgets {
  readonly openApi: CopyBudget
  readonly json: CopyBudget
}

export function schemaBudgets(): SchemaBudgets {
  return { openApi: new CopyBudget(), json: new CopyBudget() }
}

/** What decides on the form of a schema. */
export interface SchemaContext {
  readonly model: GeminiModel
  readonly budgets: SchemaBudgets
}

/** The fields of a function declaration that hold its parameters; none for a function without any. */
export function functionSchema(
  schema: Raw,
  { model, budgets, place }: SchemaContext & { readonly place: string },
): object {
  const { openApi, isLossless } = openApiSchema(schema, place, budgets.openApi)
  if (!openApi) return {}
  return isLossless || !model.takesJsonSchema
    ? { parameters: openApi }
    : { parametersJsonSchema: jsonSchema(schema, place, budgets.json) }
}

/** The fields of `generationConfig` that hold the schema of the answer. */
export function responseSchema(
  schema: Raw,
  { model, budgets, hasTools }: SchemaContext & { readonly hasTools: boolean },
): object {
  const place = 'response_format.json_schema.schema'
  const { openApi, isLossless } = openApiSchema(schema, place, budgets.openApi)
  if (!openApi) return {}
  // Together with tools only this form is known to work.
  return hasTools || (!isLossless && model.takesJsonSchema)
    ? { responseJsonSchema: jsonSchema(schema, place, budgets.json) }
    : { responseSchema: openApi }
}
