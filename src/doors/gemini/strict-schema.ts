import { isObject } from '../../wire/json/parse.ts'

/** The members of schemas for which models of the OpenAI format are held to them: https://platform.openai.com/docs/guides/structured-outputs#supported-schemas */
const known: ReadonlySet<string> = new Set([
  'type',
  'description',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'anyOf',
  'enum',
  'const',
  'pattern',
  'format',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minItems',
  'maxItems',
])

/**
 * Writes the schema of parameters for a strict function: with no other properties than those it names. Undefined
 * where that would change it: a strict function takes no optional property.
 */
export function toStrictSchema(schema: unknown): object | undefined {
  if (!isObject(schema) || !Object.keys(schema).every((name) => known.has(name))) return undefined
  const strict: Record<string, unknown> = { ...schema }
  const { items, anyOf, properties, required } = schema
  if (items !== undefined) {
    strict['items'] = toStrictSchema(items)
    if (!strict['items']) return undefined
  }
  if (anyOf !== undefined) {
    const written = Array.isArray(anyOf) ? anyOf.map(toStrictSchema) : [undefined]
    if (written.includes(undefined)) return undefined
    strict['anyOf'] = written
  }
  if (!isOfObjects(schema)) return strict
  if (!isObject(properties) || (schema['additionalProperties'] ?? false) !== false) return undefined
  const names = Object.keys(properties)
  if (!Array.isArray(required)) return undefined
  const demanded = new Set<unknown>(required)
  if (!names.every((name) => demanded.has(name))) return undefined
  const written = names.map((name) => [name, toStrictSchema(properties[name])] as const)
  if (written.some(([, one]) => one === undefined)) return undefined
  return { ...strict, properties: Object.fromEntries(written), additionalProperties: false }
}

function isOfObjects({ type, properties }: Readonly<Record<string, unknown>>): boolean {
  return properties !== undefined || [type].flat().includes('object')
}
