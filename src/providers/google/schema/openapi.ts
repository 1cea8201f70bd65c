import { defineMember } from '../../../wire/json/define-member.ts'
import { isObject, type JsonObject } from '../../../wire/json/parse.ts'
import { ResumableLoops } from './loops.ts'
import { listLostKeywords } from './lost-keywords.ts'
import { type Merged, multiplyUnions } from './merge.ts'
import { enter, readBounds, SchemaReader, type SchemaSource, type Trail } from './read.ts'

/**
 * Writes a JSON schema as a `Schema` of the Gemini API, a subset of OpenAPI 3.0. Unknown keywords
 * are left out, because Gemini refuses them. Models write no properties but the declared ones, so closing
 * an object, or leaving it open, is no loss. The whole is written when the `loops` have ended.
 */
export class OpenApiWriter {
  readonly #root: JsonObject
  readonly #reader: SchemaReader
  readonly loops = new ResumableLoops()
  /** The paths of what is left out or changed so that the schema allows other values. */
  readonly lost = new Set<string>()
  /** False when the JSON Schema form may express more of the schema. */
  isLossless = true

  constructor(root: JsonObject, source: SchemaSource) {
    this.#root = root
    this.#reader = new SchemaReader(root, source)
  }

  /** Returns undefined for an object without properties, which Gemini refuses. */
  write(): JsonObject | undefined {
    const root = this.#root
    const { start } = this.#reader
    const resolved = this.#reader.resolve(root, start)
    if (!resolved || !isFreeObject(resolved.schema)) return this.#writeSchema(root, start)
    if (isFilled(resolved.schema['additionalProperties'])) this.isLossless = false
    this.#loseKeywords(resolved.schema, 'object', resolved.trail)
    return undefined
  }

  #writeSchema(schema: unknown, trail: Trail): JsonObject {
    const branches: JsonObject[] = []
    const isOne = this.#writeBranches(schema, { beside: {}, isNullable: false, branches }, trail)
    const [only] = branches
    // Vertex AI refuses any other keyword beside `anyOf`.
    return only && isOne ? only : { anyOf: branches }
  }

  /**
   * Adds the alternatives of a schema to the branches, some of them later. Returns true when there is one, which is
   * added at once.
   */
  #writeBranches(schema: unknown, alternatives: Alternatives, trail: Trail): boolean {
    const { beside, branches } = alternatives
    const resolved = this.#reader.resolve(isObject(schema) ? schema : {}, trail)
    const merged = resolved && this.#mergeBeside(beside, resolved.schema)
    if (!merged) {
      this.#lose(isObject(schema) && '$ref' in schema ? enter(trail, '$ref') : trail)
      branches.push(markNullable(this.#markLossy({ type: 'OBJECT' }), alternatives))
      return true
    }
    for (const keyword of [...resolved.lost, ...merged.lost]) {
      this.#lose(enter(resolved.trail, keyword))
    }
    const { anyOf, oneOf, ...own } = merged.schema
    const product = anyOf && oneOf ? multiplyUnions(anyOf, oneOf) : undefined
    if (anyOf && oneOf && !product) this.#lose(enter(resolved.trail, 'oneOf'))
    const union = product ?? anyOf ?? oneOf
    if (Array.isArray(union)) {
      const keyword = anyOf === undefined ? 'oneOf' : 'anyOf'
      const inner = { beside: own, isNullable: alternatives.isNullable, branches }
      return this.#writeUnion({ union, keyword }, inner, resolved.trail)
    }
    const { types, isNullable } = readTypes(own)
    const marks = { isNullable: isNullable || alternatives.isNullable }
    if (types.length === 0) {
      this.#lose(resolved.trail)
      const written = this.#markLossy({ type: 'STRING', ...pickAnnotations(own) })
      branches.push(markNullable(written, alternatives))
      return true
    }
    for (const type of types) {
      branches.push(markNullable(this.#writeType(type, own, resolved.trail), marks))
    }
    return types.length === 1
  }

  #mergeBeside(beside: JsonObject, schema: JsonObject): Merged | undefined {
    return isFilled(beside) ? this.#reader.merge([beside, schema]) : { schema, lost: [] }
  }

  #writeUnion({ union, keyword }: Union, alternatives: Alternatives, trail: Trail): boolean {
    const { beside, branches } = alternatives
    const some = union
      .map((branch, at) => ({ branch, at }))
      .filter(({ branch }) => branch !== false && !isNull(branch))
    const [first] = some
    if (!first) {
      branches.push(markNullable({ type: 'NULL' }, alternatives))
      return true
    }
    const isNullable = alternatives.isNullable || union.some(isNull)
    // Properties beside the union are merged into the branches, where the client has none.
    const trailOf = (at: number) =>
      'properties' in beside ? trail : enter(trail, keyword, String(at))
    // A single branch is the schema itself; keywords beside the union take precedence.
    if (some.length === 1) {
      const whole = { ...beside, allOf: [first.branch] }
      return this.#writeBranches(whole, { beside: {}, isNullable, branches }, trailOf(first.at))
    }
    const inner = { beside, isNullable, branches }
    this.loops.forEach(some, ({ branch, at }) => {
      this.#writeBranches(branch, inner, trailOf(at))
    })
    return false
  }

  #writeType(type: TypeName, schema: JsonObject, trail: Trail): JsonObject {
    const common = { type: type.toUpperCase(), ...pickAnnotations(schema) }
    this.#loseKeywords(schema, type, trail)
    switch (type) {
      case 'string':
        return {
          ...common,
          ...pickFormat(schema, ['enum', 'date-time']),
          ...pickNumbers(schema, ['minLength', 'maxLength']),
          ...(typeof schema['pattern'] === 'string' && { pattern: schema['pattern'] }),
          ...this.#writeEnum(schema, trail),
        }
      case 'integer':
        this.#checkLiterals(schema, trail)
        return { ...common, ...pickFormat(schema, ['int32', 'int64']), ...readBounds(schema, type) }
      case 'number':
        this.#checkLiterals(schema, trail)
        return {
          ...common,
          ...pickFormat(schema, ['float', 'double']),
          ...readBounds(schema, type),
        }
      case 'boolean':
        // The JSON Schema form has no boolean values either.
        if (typeof schema['const'] === 'boolean') this.#lose(enter(trail, 'const'))
        else this.#checkLiterals(schema, trail)
        return common
      case 'null':
        return common
      case 'array':
        this.#checkLiterals(schema, trail)
        return {
          ...common,
          items: this.#writeItems(schema, trail),
          ...pickNumbers(schema, ['minItems', 'maxItems']),
        }
      case 'object':
        this.#checkLiterals(schema, trail)
        return {
          ...common,
          ...this.#writeMembers(schema, trail),
          ...pickNumbers(schema, ['minProperties', 'maxProperties']),
        }
      default:
        return type satisfies never
    }
  }

  #writeEnum(schema: JsonObject, trail: Trail): { enum?: readonly string[] } {
    const literals = readLiterals(schema)
    if (!literals?.every((value) => typeof value === 'string')) {
      this.#checkLiterals(schema, trail)
      return {}
    }
    const values = literals.filter((value) => value !== '')
    if (values.length < literals.length) this.#loseLiterals(schema, trail)
    return values.length > 0 ? { enum: values } : {}
  }

  /** Marks the schema as lossy when it lists values: only strings can have an `enum`. */
  #checkLiterals(schema: JsonObject, trail: Trail): void {
    if (!readLiterals(schema)) return
    this.isLossless = false
    this.#loseLiterals(schema, trail)
  }

  #loseLiterals(schema: JsonObject, trail: Trail): void {
    this.#lose(enter(trail, schema['const'] === undefined ? 'enum' : 'const'))
  }

  #writeItems({ items, prefixItems }: JsonObject, trail: Trail): JsonObject {
    const keyword = Array.isArray(prefixItems) ? 'prefixItems' : 'items'
    const places = Array.isArray(prefixItems) ? prefixItems : items
    if (Array.isArray(places)) {
      this.#lose(enter(trail, keyword))
      return this.#markLossy(this.#writeSchema(places[0], enter(trail, keyword, '0')))
    }
    if (items !== undefined && items !== false)
      return this.#writeSchema(items, enter(trail, 'items'))
    // Gemini refuses an array without `items`.
    this.#lose(items === false ? enter(trail, 'items') : trail)
    return { type: 'STRING' }
  }

  #writeMembers(schema: JsonObject, trail: Trail): object {
    const { properties, required, propertyOrdering, additionalProperties, patternProperties } =
      schema
    if (isFilled(additionalProperties) || isFilled(patternProperties)) this.isLossless = false
    const members = Object.entries(isObject(properties) ? properties : {}).filter(
      ([, member]) => member !== false,
    )
    if (members.length === 0) return this.#markLossy({})
    const written: Record<string, unknown> = {}
    this.loops.forEach(members, ([name, member]) => {
      defineMember(written, name, this.#writeSchema(member, enter(trail, 'properties', name)))
    })
    const names = new Set(members.map(([name]) => name))
    // Gemini refuses a name that is not a property.
    const named = (list: unknown) =>
      Array.isArray(list) ? [...new Set(list)].filter((name) => names.has(name)) : []
    const needed = named(required)
    if (Array.isArray(required) && needed.length < new Set(required).size) {
      this.#lose(enter(trail, 'required'))
    }
    const ordered = named(propertyOrdering)
    return {
      properties: written,
      ...(needed.length > 0 && { required: needed }),
      ...(ordered.length > 0 && { propertyOrdering: ordered }),
    }
  }

  #loseKeywords(schema: JsonObject, type: TypeName, trail: Trail): void {
    for (const keyword of listLostKeywords(schema, type, 'openapi')) {
      this.#lose(enter(trail, keyword))
    }
  }

  #lose({ path }: Trail): void {
    this.lost.add(path)
  }

  #markLossy<Schema>(schema: Schema): Schema {
    this.isLossless = false
    return schema
  }
}

interface Union {
  readonly union: readonly unknown[]
  readonly keyword: 'anyOf' | 'oneOf'
}

/** Where the alternatives of a schema are written, and what applies to each of them. */
interface Alternatives {
  readonly beside: JsonObject
  readonly isNullable: boolean
  readonly branches: JsonObject[]
}

const typeNames = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'] as const
type TypeName = (typeof typeNames)[number]

/**
 * Returns the types of a schema, declared or inferred from its other keywords; an empty list when
 * it allows any value.
 */
function readTypes(schema: JsonObject): { types: readonly TypeName[]; isNullable: boolean } {
  const literals = readLiterals(schema)
  const listed = new Set([schema['type']].flat().map((name) => String(name).toLowerCase()))
  const declared = typeNames.filter((name) => listed.has(name))
  const types = declared.filter((name) => name !== 'null')
  const isNullable = declared.includes('null') || schema['nullable'] === true || allowsNull(schema)
  if (literals?.length === 0 || (types.length === 0 && declared.length > 0)) {
    return { types: ['null'], isNullable: false }
  }
  if (literals?.every((value) => typeof value === 'string'))
    return { types: ['string'], isNullable }
  return { types: types.length > 0 ? types : inferTypes(schema, literals), isNullable }
}

function inferTypes(schema: JsonObject, literals: readonly unknown[] | undefined): TypeName[] {
  if (literals) return [jsonTypeName(literals[0])]
  if (objectKeywords.some((keyword) => keyword in schema)) return ['object']
  return 'items' in schema || 'prefixItems' in schema ? ['array'] : []
}

const objectKeywords = ['properties', 'required', 'additionalProperties', 'patternProperties']

function jsonTypeName(value: unknown): TypeName {
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  if (typeof value === 'boolean') return 'boolean'
  return typeof value === 'string' ? 'string' : 'object'
}

/**
 * Returns the values that `const` or `enum` allows, without null; undefined without such a limit.
 */
function readLiterals(schema: JsonObject): readonly unknown[] | undefined {
  if (schema['const'] !== undefined) return [schema['const']].filter((value) => value !== null)
  return Array.isArray(schema['enum'])
    ? schema['enum'].filter((value) => value !== null)
    : undefined
}

function allowsNull(schema: JsonObject): boolean {
  return (
    schema['const'] === null || (Array.isArray(schema['enum']) && schema['enum'].includes(null))
  )
}

/** Whether a branch of a union allows nothing but null. */
function isNull(branch: unknown): boolean {
  return isObject(branch) && (branch['type'] === 'null' || readLiterals(branch)?.length === 0)
}

function markNullable(
  schema: JsonObject,
  { isNullable }: Pick<Alternatives, 'isNullable'>,
): JsonObject {
  return isNullable ? { ...schema, nullable: true } : schema
}

function pickAnnotations({ title, description, default: usual, example }: JsonObject): object {
  return {
    ...(typeof title === 'string' && { title }),
    ...(typeof description === 'string' && { description }),
    ...(usual !== undefined && { default: usual }),
    ...(example !== undefined && { example }),
  }
}

function pickFormat({ format }: JsonObject, known: readonly unknown[]): object {
  return known.includes(format) ? { format } : {}
}

function pickNumbers(schema: JsonObject, keywords: readonly string[]): object {
  const present = keywords.filter((keyword) => typeof schema[keyword] === 'number')
  return Object.fromEntries(present.map((keyword) => [keyword, schema[keyword]]))
}

/** Whether a root schema is an object without properties, or allows any value. */
function isFreeObject(schema: JsonObject): boolean {
  if (isFilled(schema['properties']) || 'anyOf' in schema || 'oneOf' in schema) return false
  const { types } = readTypes(schema)
  return types.length === 0 || types.includes('object')
}

function isFilled(value: unknown): value is JsonObject {
  return isObject(value) && Object.keys(value).length > 0
}
