import { defineMember } from '../../../wire/json/define-member.ts'
import { isObject, type JsonObject } from '../../../wire/json/parse.ts'
import { ResumableLoops } from './loops.ts'
import { listLostKeywords } from './lost-keywords.ts'
import { type Merged, mergeSchemas } from './merge.ts'
import { enter, readBounds, SchemaReader, type SchemaSource, type Trail } from './read.ts'

/**
 * Writes a schema in the subset of JSON Schema that Gemini models accept from generation 2.5 on.
 * References are kept; `definitions` become `$defs`, and `const` becomes an `enum` of one value.
 * `JSON.stringify` leaves out members that are undefined. The whole is written when the `loops` have ended.
 */
export class JsonSchemaWriter {
  readonly #root: JsonObject
  readonly #reader: SchemaReader
  readonly loops = new ResumableLoops()
  /** The paths of what is left out or changed so that the schema allows other values. */
  readonly lost = new Set<string>()

  constructor(root: JsonObject, source: SchemaSource) {
    this.#root = root
    this.#reader = new SchemaReader(root, source)
  }

  write(): JsonObject {
    return this.#writeSchema(this.#root, this.#reader.start)
  }

  #writeSchema(schema: JsonObject, trail: Trail): JsonObject {
    const { schema: whole, lost: unwrapped } = unwrapAllOf(schema)
    const { $ref: pointer } = whole
    const beside = Object.keys(whole).filter((keyword) => !keptBesideRef.has(keyword))
    const isReference = typeof pointer === 'string'
    // Gemini allows no other keywords beside a `$ref` than those that begin with `$`, so the reference is replaced
    // where that keeps them.
    const isKept = beside.length === 0 || listLostKeywords(whole, undefined, 'json').length > 0
    const resolved = isReference && isKept ? undefined : this.#reader.resolve(whole, trail)
    if (isReference && !resolved) {
      for (const keyword of beside) this.#lose(enter(trail, keyword))
      const $ref = pointer.replace(/^#\/definitions\//, '#/$defs/')
      return { $ref, ...this.#writeDefs(whole, trail) }
    }
    if (!resolved) {
      this.#lose(trail)
      return {}
    }
    const { schema: own, trail: inner } = resolved
    for (const keyword of [...unwrapped, ...resolved.lost]) this.#lose(enter(inner, keyword))
    this.#loseLimits(own, inner)
    const written = Object.entries(own).map(([keyword, value]) => [
      keyword,
      this.#writeKeyword(keyword, value, inner),
    ])
    return {
      ...Object.fromEntries(written),
      ...(Array.isArray(own['items']) && {
        prefixItems: this.#writeList(own['items'], enter(inner, 'items')),
      }),
      ...toEnumFields(own),
      ...readBounds(own, own['type'] === 'integer' ? 'integer' : 'number'),
      ...this.#writeDefs(own, inner),
    }
  }

  #loseLimits(schema: JsonObject, trail: Trail): void {
    for (const keyword of listLostKeywords(schema, schema['type'], 'json')) {
      this.#lose(enter(trail, keyword))
    }
    const { const: value, enum: values } = schema
    if (value !== undefined) {
      if (value !== null && !isEnumValue(value)) this.#lose(enter(trail, 'const'))
    } else if (Array.isArray(values) && !values.every(isEnumValue)) {
      this.#lose(enter(trail, 'enum'))
    }
  }

  #lose({ path }: Trail): void {
    this.lost.add(path)
  }

  #writeKeyword(keyword: string, value: unknown, outer: Trail): unknown {
    const trail = enter(outer, keyword)
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
    if (!isFilled($defs) && !isFilled(definitions)) return {}
    const all = {}
    this.#writeMembers(all, definitions, enter(trail, 'definitions'))
    this.#writeMembers(all, $defs, enter(trail, '$defs'))
    return { $defs: all }
  }

  #writeOne(value: unknown, trail: Trail): JsonObject | undefined {
    if (value === true) return {}
    return isObject(value) ? this.#writeSchema(value, trail) : undefined
  }

  #writeList(value: unknown, trail: Trail): unknown {
    if (!Array.isArray(value)) return undefined
    const written: JsonObject[] = []
    this.loops.forEach(value, (item, at) => {
      const one = this.#writeOne(item, enter(trail, String(at)))
      if (one) written.push(one)
    })
    return written
  }

  #writeMap(value: unknown, trail: Trail): JsonObject | undefined {
    if (!isObject(value)) return undefined
    const written = {}
    this.#writeMembers(written, value, trail)
    return written
  }

  #writeMembers(written: Record<string, unknown>, schemas: unknown, trail: Trail): void {
    if (!isObject(schemas)) return
    this.loops.forEach(Object.entries(schemas), ([name, schema]) => {
      defineMember(written, name, this.#writeOne(schema, enter(trail, name)))
    })
  }
}

/** Keywords beside a `$ref` that are kept, or that limit no values. */
const keptBesideRef: ReadonlySet<string> = new Set([
  '$ref',
  '$defs',
  '$schema',
  '$id',
  '$comment',
  'definitions',
  'title',
  'description',
  'default',
  'example',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
])

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
function unwrapAllOf(schema: JsonObject): Merged {
  const { allOf, ...own } = schema
  const isLone = Array.isArray(allOf) && allOf.length === 1 && isObject(allOf[0])
  return isLone && !('$ref' in own) ? mergeSchemas([allOf[0], own]) : { schema, lost: [] }
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

function isFilled(value: unknown): boolean {
  return isObject(value) && Object.keys(value).length > 0
}
