import type { JsonObject } from '../../canonical/messages.ts'
import type { GeminiModel } from '../models.ts'
import { toJsonSchema } from './json.ts'
import { toOpenApiSchema } from './openapi.ts'
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

export function newSchemaBudgets(): SchemaBudgets {
  return { openApi: new CopyBudget(), json: new CopyBudget() }
}

/** What decides on the form of a schema. */
export interface SchemaContext {
  readonly model: GeminiModel
  readonly budgets: SchemaBudgets
}

/** The fields of a function declaration that hold its parameters; none for a function without any. */
export function toParameterFields(
  schema: JsonObject,
  { model, budgets, path }: SchemaContext & { readonly path: string },
): object {
  const { openApi, isLossless } = toOpenApiSchema(schema, { path, budget: budgets.openApi })
  if (!openApi) return {}
  return isLossless || !model.takesJsonSchema
    ? { parameters: openApi }
    : { parametersJsonSchema: toJsonSchema(schema, { path, budget: budgets.json }) }
}

/** The fields of `generationConfig` that hold the schema of the answer. */
export function toResponseSchemaFields(
  schema: JsonObject,
  { model, budgets, hasTools }: SchemaContext & { readonly hasTools: boolean },
): object {
  const path = 'response_format.json_schema.schema'
  const { openApi, isLossless } = toOpenApiSchema(schema, { path, budget: budgets.openApi })
  if (!openApi) return {}
  // Together with tools only this form is known to work.
  return hasTools || (!isLossless && model.takesJsonSchema)
    ? { responseJsonSchema: toJsonSchema(schema, { path, budget: budgets.json }) }
    : { responseSchema: openApi }
}
