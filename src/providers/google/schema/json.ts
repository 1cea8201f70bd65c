import { isObject } from '../../../wire/json.ts'
import type { JsonObject } from '../../canonical/messages.ts'
import {
  emptyTrail,
  mergeSchemas,
  readBounds,
  SchemaReader,
  type SchemaSource,
  type Trail,
} from './read.ts'

/**
 * Writes a schema in the subset of JSON Schema that Gemini models accept from generation 2.5 on.
 * References are kept; `definitions` become `$defs`, and `const` becomes an `enum` of one value.
 */
export function toJsonSchema(root: JsonObject, source: SchemaSource): JsonObject {
  return new JsonSchemaWriter(new SchemaReader(root, source)).write(root, emptyTrail)
}

/** Writes the JSON Schema form. `JSON.stringify` leaves out members that are undefined. */
class JsonSchemaWriter {
  readonly #reader: SchemaReader

  constructor(reader: SchemaReader) {
    this.#reader = reader
  }

  write(schema: JsonObject, trail: Trail): JsonObject {
    const whole = unwrapAllOf(schema)
    const { $ref: pointer } = whole
    if (typeof pointer === 'string') {
      // Gemini allows no other keywords beside a `$ref` than those that begin with `$`.
      const $ref = pointer.replace(/^#\/definitions\//, '#/$defs/')
      return { $ref, ...this.#writeDefs(whole, trail) }
    }
    const resolved = this.#reader.resolve(whole, trail)
    if (!resolved) return {}
    const { schema: own, trail: inner } = resolved
    const written = Object.entries(own).map(([keyword, value]) => [
      keyword,
      this.#writeKeyword(keyword, value, inner),
    ])
    return {
      ...Object.fromEntries(written),
      ...(Array.isArray(own['items']) && { prefixItems: this.#writeList(own['items'], inner) }),
      ...toEnumFields(own),
      ...readBounds(own, own['type'] === 'integer' ? 'integer' : 'number'),
      ...this.#writeDefs(own, inner),
    }
  }

  #writeKeyword(keyword: string, value: unknown, trail: Trail): unknown {
    switch (keyword) {
      case 'enum':
        return filterEnumValues(value)
      case 'additionalProperties':
        return typeof value === 'boolean' ? value : this.#writeOne(value, trail)
      case 'items':
        return this.#writeOne(value, trail)
      case 'prefixItems':
      case 'anyOf':
      case 'oneOf':
        return this.#writeList(value, trail)
      case 'properties':
        return this.#writeMap(value, trail)
      default:
        return keptKeywords.has(keyword) ? value : undefined
    }
  }

  #writeDefs({ $defs, definitions }: JsonObject, trail: Trail): object {
    const all = { ...this.#writeMap(definitions, trail), ...this.#writeMap($defs, trail) }
    return Object.keys(all).length > 0 ? { $defs: all } : {}
  }

  #writeOne(value: unknown, trail: Trail): JsonObject | undefined {
    if (value === true) return {}
    return isObject(value) ? this.write(value, trail) : undefined
  }

  #writeList(value: unknown, trail: Trail): unknown {
    return Array.isArray(value)
      ? value.flatMap((item) => this.#writeOne(item, trail) ?? [])
      : undefined
  }

  #writeMap(value: unknown, trail: Trail): JsonObject | undefined {
    if (!isObject(value)) return undefined
    const members = Object.entries(value).map(([name, member]) => [
      name,
      this.#writeOne(member, trail),
    ])
    return Object.fromEntries(members)
  }
}

/** Keywords that are copied unchanged. */
const keptKeywords: ReadonlySet<string> = new Set([
  '$id',
  '$anchor',
  'type',
  'format',
  'title',
  'description',
  'default',
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
  'uniqueItems',
  'required',
  'propertyOrdering',
])

/** Unwraps an `allOf` of one schema: some tools wrap a reference to put a description beside it. */
function unwrapAllOf(schema: JsonObject): JsonObject {
  const { allOf, ...own } = schema
  const isLone = Array.isArray(allOf) && allOf.length === 1 && isObject(allOf[0])
  return isLone ? mergeSchemas([allOf[0], own]) : schema
}

function toEnumFields({ const: value }: JsonObject): object {
  if (value === null) return { type: 'null' }
  return isEnumValue(value) ? { enum: [value] } : {}
}

/** Keeps strings and numbers, the only values that `enum` accepts. */
function filterEnumValues(values: unknown): unknown {
  const limits = Array.isArray(values) ? values.filter(isEnumValue) : []
  return limits.length > 0 ? limits : undefined
}

function isEnumValue(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number'
}
