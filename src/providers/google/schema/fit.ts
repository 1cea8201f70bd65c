import type { JsonObject } from '../../canonical/messages.ts'
import type { GeminiModel } from '../models.ts'
import { toJsonSchema } from './json.ts'
import { toOpenApiSchema } from './openapi.ts'
import { CopyBudget } from './read.ts'

/*
 * Gemini has two fields for a schema, each with its own form: a subset of OpenAPI 3.0, which all
 * models accept, and a subset of JSON Schema for newer models. The gateway sends the OpenAPI form
 * whenever it expresses the whole schema, because it has been in use longer.
 * https://ai.google.dev/api/generate-content
 */

/**
 * The copy budgets that all schemas of a request share. A schema that exceeds the budget of one
 * form is sent in the other.
 */
export interface SchemaBudgets {
  readonly openApi: CopyBudget
  readonly json: CopyBudget
}

export function newSchemaBudgets(): SchemaBudgets {
  return { openApi: new CopyBudget(), json: new CopyBudget() }
}

/** The model and budgets that decide the form of a schema. */
export interface SchemaContext {
  readonly model: GeminiModel
  readonly budgets: SchemaBudgets
}

/**
 * The field of a function declaration for its parameters; no field for a function without
 * parameters.
 */
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

/** The schema of the answer in one of its forms, as `generationConfig` has it. */
export interface ResponseSchemaFields {
  readonly responseSchema?: object
  readonly responseJsonSchema?: unknown
}

/** The field of `generationConfig` for the schema of the answer. */
export function toResponseSchemaFields(
  schema: JsonObject,
  { model, budgets, hasTools }: SchemaContext & { readonly hasTools: boolean },
): ResponseSchemaFields {
  const path = 'response_format.json_schema.schema'
  const { openApi, isLossless } = toOpenApiSchema(schema, { path, budget: budgets.openApi })
  if (!openApi) return {}
  // With tools, only the JSON Schema form is known to work.
  return hasTools || (!isLossless && model.takesJsonSchema)
    ? { responseJsonSchema: toJsonSchema(schema, { path, budget: budgets.json }) }
    : { responseSchema: openApi }
}
