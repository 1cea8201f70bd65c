/** A JSON schema. Keywords that are not listed are not looked at. */
export interface JsonSchema {
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | JsonSchema
  readonly items?: JsonSchema
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly JsonSchema[]
  readonly allOf?: readonly JsonSchema[]
  readonly oneOf?: readonly JsonSchema[]
  readonly minimum?: number
  readonly $ref?: string
}

const types = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'])

export interface SchemaRules {
  /** Every object must have `additionalProperties: false`. */
  readonly isClosed?: boolean
  /** Every property must be required. */
  readonly isComplete?: boolean
  /** The keywords that the vendor knows. Undefined allows all. */
  readonly keywords?: ReadonlySet<string>
}

/** Describes the first fault of a schema. Returns undefined for a valid one. */
export function findSchemaProblem(
  schema: unknown,
  rules: SchemaRules = {},
  path = '',
): string | undefined {
  const at = path || 'the root'
  if (typeof schema === 'boolean') return undefined
  if (!isRecord(schema)) return `${at} is not an object`
  const unknown = Object.keys(schema).find((key) => rules.keywords?.has(key) === false)
  if (unknown) return `${at} has the unknown keyword '${unknown}'`
  const { type, properties, required, items, additionalProperties } = schema
  for (const each of [type ?? []].flat()) {
    if (typeof each !== 'string' || !types.has(each.toLowerCase()))
      return `${at} has the unknown type ${JSON.stringify(each)}`
  }
  if (properties !== undefined && !isRecord(properties)) return `${at}: properties is not an object`
  if (required !== undefined && !isTextList(required)) return `${at}: required is not a list`
  const names = Object.keys(properties ?? {})
  if (String(type).toLowerCase() === 'object') {
    if (rules.isClosed && additionalProperties !== false)
      return `${at}: additionalProperties must be false`
    const optional = names.find((name) => !(required ?? []).includes(name))
    if (rules.isComplete && optional) return `${at}: required must contain '${optional}'`
  }
  const inner: [string, unknown][] = [
    ...Object.entries(properties ?? {}).map(
      ([name, each]) => [`${path}.properties.${name}`, each] as [string, unknown],
    ),
    ...(items === undefined ? [] : [[`${path}.items`, items] as [string, unknown]]),
    ...['anyOf', 'allOf', 'oneOf'].flatMap((key) =>
      [schema[key] ?? []].flat().map((each) => [`${path}.${key}`, each] as [string, unknown]),
    ),
  ]
  for (const [place, each] of inner) {
    const problem = findSchemaProblem(each, rules, place)
    if (problem) return problem
  }
  return undefined
}

/** Makes a value that fits a schema. Values of one `variant` differ from those of another. */
export function sampleValue(schema: JsonSchema, variant = 1, root: JsonSchema = schema): unknown {
  const resolved = schema.$ref ? resolveReference(root, schema.$ref) : schema
  const { const: fixed, enum: values, type, anyOf, oneOf, allOf } = resolved
  if (fixed !== undefined) return fixed
  if (values) return values[(variant - 1) % values.length]
  const option = (anyOf ?? oneOf ?? allOf)?.[0]
  if (option) return sampleValue(option, variant, root)
  switch (String([type].flat()[0] ?? (resolved.properties ? 'object' : 'string')).toLowerCase()) {
    case 'object':
      return sampleObject(resolved, variant, root)
    case 'array':
      return resolved.items ? [sampleValue(resolved.items, variant, root)] : []
    case 'number':
    case 'integer':
      return Math.max(resolved.minimum ?? 0, variant)
    case 'boolean':
      return true
    case 'null':
      return null
    default:
      return `Zürich ${variant}`
  }
}

/** Optional properties are left out, except those of an object without required ones. */
function sampleObject(schema: JsonSchema, variant: number, root: JsonSchema): object {
  const { properties = {}, required = [] } = schema
  const names = required.length > 0 ? required : Object.keys(properties)
  return Object.fromEntries(
    names.map((name) => [name, sampleValue(properties[name] ?? {}, variant, root)]),
  )
}

/** Follows a reference inside the document, such as `#/$defs/City`. */
function resolveReference(root: JsonSchema, reference: string): JsonSchema {
  const steps = reference.split('/').slice(1)
  // A path into a valid schema leads to a schema.
  return steps.reduce<unknown>((at, step) => (isRecord(at) ? at[step] : {}), root) as JsonSchema
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
