import { isObject } from '../../wire/json/parse.ts'

type Schema = Readonly<Record<string, unknown>>

/** The position of a schema: the document that its references point into, and its nesting depth. */
interface SchemaPlace {
  readonly root: unknown
  readonly depth: number
  /** How many more schemas may be read; shared by all places of one sample. */
  readonly rest: { schemas: number }
}

/** The nesting limit, at which recursive schemas end. */
const maxDepth = 16
/** A bound on the work, because members that refer to each other multiply without end. */
const maxSchemas = 1000
/** This many characters of JSON text count as one schema. */
const charactersPerSchema = 64

/**
 * Creates a small value that a common JSON schema allows. An agent may act on it, so it is as harmless as
 * the schema permits: required members only, `false`, 0, one item.
 */
export function createSample(schema: unknown): unknown {
  return sampleSchema(schema, { root: schema, depth: 0, rest: { schemas: maxSchemas } })
}

function sampleSchema(given: unknown, { root, depth, rest }: SchemaPlace): unknown {
  if (!isObject(given) || depth > maxDepth || rest.schemas <= 0) return null
  rest.schemas--
  const inner: SchemaPlace = { root, depth: depth + 1, rest }
  const target = resolveReference(given['$ref'], root)
  if (target !== undefined) return sampleSchema(target, inner)
  if (given['const'] !== undefined) return countValue(given['const'], inner)
  for (const options of [given['enum'], given['examples']]) {
    if (Array.isArray(options) && options.length > 0) return countValue(options[0], inner)
  }
  for (const branches of [given['anyOf'], given['oneOf'], given['allOf']]) {
    if (Array.isArray(branches) && branches.length > 0) return sampleSchema(branches[0], inner)
  }
  const type = Array.isArray(given['type']) ? given['type'][0] : given['type']
  switch (type) {
    case 'string':
      return sampleText(given)
    case 'integer':
    case 'number':
      return sampleNumber(given)
    case 'boolean':
      return false
    case 'array':
      return sampleArray(given, inner)
    case 'object':
      return sampleObject(given, inner)
    default:
      return isObject(given['properties']) ? sampleObject(given, inner) : null
  }
}

/** Charges the size of a value each time it is read, and returns it. */
function countValue<Value>(value: Value, { rest }: SchemaPlace): Value {
  rest.schemas -= (JSON.stringify(value)?.length ?? 0) / charactersPerSchema
  return value
}

/** Resolves a reference such as `#/$defs/unit`. */
function resolveReference(reference: unknown, root: unknown): unknown {
  if (typeof reference !== 'string' || !reference.startsWith('#/')) return undefined
  const steps = reference.slice(2).split('/')
  return steps.reduce<unknown>(
    (place, step) => (isObject(place) && Object.hasOwn(place, step) ? place[step] : undefined),
    root,
  )
}

const texts: Readonly<Record<string, string>> = {
  date: '2000-01-01',
  'date-time': '2000-01-01T00:00:00Z',
  time: '00:00:00Z',
  email: 'demo@example.com',
  uri: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
}

function sampleText({ format, minLength, maxLength }: Schema): string {
  const known = typeof format === 'string' ? texts[format] : undefined
  if (known !== undefined) return known
  const longest = Math.min(toNumber(maxLength) ?? maxTextLength, maxTextLength)
  return 'demo'.padEnd(Math.min(toNumber(minLength) ?? 0, maxTextLength), '.').slice(0, longest)
}

/** In characters, because a schema may ask for text of any length. */
const maxTextLength = 1000

function sampleNumber(schema: Schema): number {
  const above = toNumber(schema['exclusiveMinimum'])
  const below = toNumber(schema['exclusiveMaximum'])
  const step = toNumber(schema['multipleOf']) ?? 1
  const min = toNumber(schema['minimum']) ?? (above === undefined ? undefined : above + step)
  const max = toNumber(schema['maximum']) ?? (below === undefined ? undefined : below - step)
  if (min !== undefined && min > 0) return Math.ceil(min / step) * step
  return max !== undefined && max < 0 ? Math.floor(max / step) * step : 0
}

function sampleArray({ items, prefixItems, maxItems }: Schema, place: SchemaPlace): unknown[] {
  if (Array.isArray(prefixItems)) return prefixItems.map((item) => sampleSchema(item, place))
  return maxItems === 0 ? [] : [sampleSchema(items, place)]
}

function sampleObject({ properties, required }: Schema, place: SchemaPlace): object {
  if (!isObject(properties)) return {}
  const names = countValue(Array.isArray(required) ? required : Object.keys(properties), place)
  const members = names.filter(
    (name): name is string => typeof name === 'string' && name in properties,
  )
  return Object.fromEntries(members.map((name) => [name, sampleSchema(properties[name], place)]))
}

function toNumber(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}
