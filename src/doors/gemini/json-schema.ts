import type { Steps } from '../../core/steps.ts'
import { isObject } from '../../wire/json/parse.ts'

/** The types by their numbers in protocol buffers: https://ai.google.dev/api/caching#Type */
const numbered = ['', 'string', 'number', 'integer', 'boolean', 'array', 'object', 'null']

/** Members whose values are schemas, lists of schemas, or schemas by names of the user's. */
const nested: ReadonlySet<string> = new Set(['items', 'additionalProperties', 'not', 'contains'])
const lists: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems'])
const byName: ReadonlySet<string> = new Set([
  'properties',
  '$defs',
  'definitions',
  'patternProperties',
])

/** Members that only Gemini reads, or that say nothing to a model. */
const dropped: ReadonlySet<string> = new Set(['propertyOrdering', 'title', 'nullable'])

/**
 * Writes a schema of Gemini's API as JSON Schema: types in small letters, `nullable` as a type. The fields for
 * JSON Schema need it too: Gemini CLI writes capital types there.
 */
export function* toJsonSchema(schema: unknown): Steps<unknown> {
  if (!isObject(schema)) return schema
  const isNullable = schema['nullable'] === true
  const members: [string, unknown][] = []
  for (const [name, value] of Object.entries(schema)) {
    const keyword = keywords.get(name) ?? name
    if (dropped.has(keyword) || (keyword === 'type' && isUnspecified(value))) continue
    members.push([keyword, yield* writeMember(keyword, value, isNullable)])
  }
  return Object.fromEntries(members)
}

function* writeMember(keyword: string, value: unknown, isNullable: boolean): Steps<unknown> {
  if (keyword === 'type') return toType(value, isNullable)
  if (keyword === 'enum' && isNullable && Array.isArray(value)) {
    return value.includes(null) ? value : [...value, null]
  }
  if (nested.has(keyword)) return yield* toJsonSchema(value)
  if (lists.has(keyword) && Array.isArray(value)) {
    const written = yield* writeEach(value)
    return isNullable && keyword === 'anyOf' ? [...written, { type: 'null' }] : written
  }
  if (!byName.has(keyword) || !isObject(value)) return toCount(keyword, value)
  const names = Object.keys(value)
  const written = yield* writeEach(Object.values(value))
  return Object.fromEntries(names.map((name, at) => [name, written[at]]))
}

/** How many schemas are written at once: less than a millisecond's work. */
const writtenAtOnce = 64

function* writeEach(schemas: readonly unknown[]): Steps<readonly unknown[]> {
  const written: unknown[] = []
  for (const [at, schema] of schemas.entries()) {
    if (at % writtenAtOnce === writtenAtOnce - 1) yield
    written.push(yield* toJsonSchema(schema))
  }
  return written
}

const keywords: ReadonlyMap<string, string> = new Map([
  ['any_of', 'anyOf'],
  ['one_of', 'oneOf'],
  ['all_of', 'allOf'],
  ['max_items', 'maxItems'],
  ['min_items', 'minItems'],
  ['max_length', 'maxLength'],
  ['min_length', 'minLength'],
  ['max_properties', 'maxProperties'],
  ['min_properties', 'minProperties'],
  ['additional_properties', 'additionalProperties'],
  ['property_ordering', 'propertyOrdering'],
  ['defs', '$defs'],
  ['ref', '$ref'],
])

/** The word, or the number, for a type that is not given. */
function isUnspecified(type: unknown): boolean {
  return type === 0 || type === null || type === 'TYPE_UNSPECIFIED'
}

/** Bounds are texts where the client writes 64-bit numbers as protocol buffers do. */
function toCount(keyword: string, value: unknown): unknown {
  return /^m(?:ax|in)[A-Z]/.test(keyword) && typeof value === 'string' ? Number(value) : value
}

function toType(type: unknown, isNullable: boolean): unknown {
  const types = (Array.isArray(type) ? type : [type]).map(toTypeName)
  const all = isNullable && !types.includes('null') ? [...types, 'null'] : types
  return all.length === 1 ? all[0] : all
}

function toTypeName(type: unknown): unknown {
  if (typeof type === 'number') return numbered[type] ?? type
  return typeof type === 'string' ? type.toLowerCase() : type
}
