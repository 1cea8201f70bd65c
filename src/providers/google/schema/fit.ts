import type { Steps } from '../../../core/steps.ts'
import type { JsonObject } from '../../../wire/json/parse.ts'
import type { GeminiModel } from '../models.ts'
import { JsonSchemaWriter } from './json.ts'
import { OpenApiWriter } from './openapi.ts'
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
  /** Gets the path of everything that a written schema lacks. */
  readonly lose: (path: string) => void
}

/**
 * The field of a function declaration for its parameters; no field for a function without
 * parameters.
 */
export function* toParameterFields(
  schema: JsonObject,
  context: SchemaContext & { readonly path: string },
): Steps<object> {
  const { form, written } = yield* fitSchema(schema, { ...context, needsJson: false })
  if (!written) return {}
  return form === 'json' ? { parametersJsonSchema: written } : { parameters: written }
}

/** The schema of the answer in one of its forms, as `generationConfig` has it. */
export interface ResponseSchemaFields {
  readonly responseSchema?: object
  readonly responseJsonSchema?: unknown
}

/** The field of `generationConfig` for the schema of the answer. */
export function* toResponseSchemaFields(
  schema: JsonObject,
  { hasTools, ...context }: SchemaContext & { readonly hasTools: boolean },
): Steps<ResponseSchemaFields> {
  const path = 'response_format.json_schema.schema'
  // With tools, only the JSON Schema form is known to work.
  const { form, written } = yield* fitSchema(schema, { ...context, path, needsJson: hasTools })
  if (!written) return {}
  return form === 'json' ? { responseJsonSchema: written } : { responseSchema: written }
}

interface FittedSchema {
  readonly form: 'openapi' | 'json'
  /** Undefined for an object without properties. */
  readonly written: JsonObject | undefined
}

interface FitContext extends SchemaContext {
  readonly path: string
  /** Whether the OpenAPI form cannot be sent. */
  readonly needsJson: boolean
}

function* fitSchema(
  schema: JsonObject,
  { model, budgets, lose, path, needsJson }: FitContext,
): Steps<FittedSchema> {
  const writer = new OpenApiWriter(schema, { path, budget: budgets.openApi })
  const openApi = writer.write()
  yield
  for (; writer.loops.areInterrupted; yield) writer.loops.resume()
  const { isLossless } = writer
  const isFree = !openApi && isLossless
  if (!isFree && (needsJson || (!isLossless && model.takesJsonSchema))) {
    const jsonWriter = new JsonSchemaWriter(schema, { path, budget: budgets.json })
    const json = jsonWriter.write()
    for (; jsonWriter.loops.areInterrupted; jsonWriter.loops.resume()) yield
    jsonWriter.lost.forEach((lost) => lose(lost))
    return { form: 'json', written: json }
  }
  writer.lost.forEach((lost) => lose(lost))
  return { form: 'openapi', written: openApi }
}
