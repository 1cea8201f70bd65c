import { isSameJson } from '../../wire/json/equality.ts'
import { isObject, type JsonObject } from '../../wire/json/parse.ts'

/**
 * How many values the definitions may have that are copied into the schemas of one request. Each definition that
 * extends another repeats its members, so a chain of them would multiply.
 */
const maxCopied = 20_000

/** How many references may lead from one to the next. They may also lead in a circle. */
const maxChain = 64

/**
 * Merges `allOf` where the vendor refuses it, around a `$ref`, and where nothing would satisfy it: several
 * objects that are all closed. An `allOf` that cannot be merged stays, for the vendor to judge.
 */
export class AllOfResolver {
  readonly #root: JsonObject
  /** The merged forms, by the schema of the client. Schemas in progress are undefined: they are recursive. */
  readonly #merged = new Map<JsonObject, JsonObject | undefined>()
  readonly #sizes = new Map<JsonObject, number>()
  #copied = 0
  #chain = 0

  constructor(root: JsonObject) {
    this.#root = root
  }

  /** Returns the schema without its `allOf`, or as it is. */
  resolve(schema: JsonObject): JsonObject {
    // Beside a reference, the type of an object would close the object without its members.
    if (schema['$ref'] !== undefined && schema['type'] !== undefined) {
      return this.#open(schema) ?? schema
    }
    return mustMerge(schema['allOf']) ? (this.#merge(schema) ?? schema) : schema
  }

  #merge(schema: JsonObject): JsonObject | undefined {
    if (this.#merged.has(schema)) return this.#merged.get(schema)
    this.#merged.set(schema, undefined)
    const { allOf, ...siblings } = schema
    const parts = Array.isArray(allOf) ? allOf : []
    const only = parts.length === 1 ? parts[0] : undefined
    // A single reference needs no copy of what it names.
    const merged = isObject(only)
      ? this.#join([siblings, only])
      : this.#join([siblings, ...parts.map((part) => this.#open(part))])
    this.#merged.set(schema, merged)
    return merged
  }

  /** Returns a part of an `allOf` with the definition in place of its reference, and its own `allOf` merged. */
  #open(part: unknown): JsonObject | undefined {
    if (!isObject(part)) return undefined
    const { $ref: reference, ...siblings } = part
    if (reference === undefined) return mustMerge(part['allOf']) ? this.#merge(part) : part
    const target = this.#find(reference)
    if (!target || this.#chain >= maxChain) return undefined
    this.#copied += this.#measure(target)
    if (this.#copied > maxCopied) return undefined
    this.#chain++
    const opened = this.#open(target)
    this.#chain--
    return opened && this.#join([siblings, opened])
  }

  #measure(target: JsonObject): number {
    const size = this.#sizes.get(target) ?? countValues(target)
    this.#sizes.set(target, size)
    return size
  }

  /** Finds a definition in this schema. */
  #find(reference: unknown): JsonObject | undefined {
    if (typeof reference !== 'string' || !reference.startsWith('#/')) return undefined
    let found: unknown = this.#root
    for (const step of reference.slice(2).split('/')) {
      if (!isObject(found)) return undefined
      const name = decodeStep(step)
      found = Object.hasOwn(found, name) ? found[name] : undefined
    }
    return isObject(found) ? found : undefined
  }

  /** Merges schemas that all hold. The first texts win. Undefined where two contradict each other. */
  #join(schemas: readonly (JsonObject | undefined)[]): JsonObject | undefined {
    const joined = new Map<string, unknown>()
    for (const schema of schemas) {
      if (!schema) return undefined
      for (const [keyword, value] of Object.entries(schema)) {
        const known = joined.get(keyword)
        if (known === undefined) joined.set(keyword, value)
        else if (keyword === 'properties' && isObject(known) && isObject(value)) {
          joined.set(keyword, joinProperties(known, value))
        } else if (keyword === 'required' && Array.isArray(known) && Array.isArray(value)) {
          joined.set(keyword, [...new Set([...known, ...value])])
        } else if (!texts.has(keyword) && !isSameJson(known, value)) return undefined
      }
    }
    return Object.fromEntries(joined)
  }
}

/** Keywords of which the outermost counts. Every object is closed anyway. */
const texts: ReadonlySet<string> = new Set([
  'title',
  'description',
  'default',
  'examples',
  'additionalProperties',
])

function countValues(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1
  return Object.values(value).reduce<number>((sum, item) => sum + countValues(item), 1)
}

function mustMerge(allOf: unknown): boolean {
  if (!Array.isArray(allOf)) return false
  const parts = allOf.filter(isObject)
  return parts.length > 1 || parts.some((part) => part['$ref'] !== undefined)
}

/** A property that both have must satisfy both. */
function joinProperties(known: JsonObject, more: JsonObject): JsonObject {
  const entries = Object.entries(more).map(([name, schema]): [string, unknown] => {
    const other = Object.hasOwn(known, name) ? known[name] : undefined
    const isNew = other === undefined || isSameJson(other, schema)
    return [name, isNew ? schema : { allOf: [other, schema] }]
  })
  return Object.fromEntries([...Object.entries(known), ...entries])
}

/** Decodes a step of a JSON pointer in the fragment of a URI. */
function decodeStep(step: string): string {
  let text = step
  try {
    text = decodeURIComponent(step)
  } catch {
    // The step has a percent sign of its own.
  }
  return text.replaceAll('~1', '/').replaceAll('~0', '~')
}
