import { isObject } from '../../../wire/json.ts'
import type { JsonObject } from '../../canonical/messages.ts'
import { emptyTrail, readBounds, SchemaReader, type SchemaSource, type Trail } from './read.ts'

export interface OpenApiSchema {
  /** Undefined for an object without properties, which Gemini refuses. */
  readonly openApi: JsonObject | undefined
  /** False when the OpenAPI form could not express the whole schema. */
  readonly isLossless: boolean
}

/**
 * Writes a JSON schema as a `Schema` of the Gemini API, a subset of OpenAPI 3.0. Unknown keywords
 * are left out, because Gemini refuses them; those that only validate do not count as a loss.
 */
export function toOpenApiSchema(root: JsonObject, source: SchemaSource): OpenApiSchema {
  const writer = new OpenApiWriter(new SchemaReader(root, source))
  const openApi = writer.writeRoot(root)
  return { openApi, isLossless: writer.isLossless }
}

class OpenApiWriter {
  readonly #reader: SchemaReader
  isLossless = true

  constructor(reader: SchemaReader) {
    this.#reader = reader
  }

  writeRoot(root: JsonObject): JsonObject | undefined {
    const resolved = this.#reader.resolve(root, emptyTrail)
    return resolved && isFreeObject(resolved.schema) ? undefined : this.#write(root, emptyTrail)
  }

  #write(schema: unknown, trail: Trail): JsonObject {
    const branches = this.#writeBranches(schema, {}, trail)
    const [only] = branches
    // Vertex AI refuses any other keyword beside `anyOf`.
    return only && branches.length === 1 ? only : { anyOf: branches }
  }

  /**
   * Writes a schema as the list of its alternatives, usually one. The keywords in `beside` apply to
   * each of them.
   */
  #writeBranches(schema: unknown, beside: JsonObject, trail: Trail): readonly JsonObject[] {
    const resolved = this.#reader.resolve(isObject(schema) ? schema : {}, trail)
    const whole = resolved && this.#mergeBeside(beside, resolved.schema)
    if (!whole) return [this.#markLossy({ type: 'OBJECT' })]
    const { anyOf, oneOf, ...own } = whole
    const union = anyOf ?? oneOf
    if (Array.isArray(union)) return this.#writeUnion(union, own, resolved.trail)
    const { types, isNullable } = readTypes(own)
    if (types.length === 0) return [this.#markLossy({ type: 'STRING', ...pickAnnotations(own) })]
    const written = types.map((type) => this.#writeType(type, own, resolved.trail))
    return isNullable ? written.map(markNullable) : written
  }

  #mergeBeside(beside: JsonObject, schema: JsonObject): JsonObject | undefined {
    return isFilled(beside) ? this.#reader.merge([beside, schema]) : schema
  }

  #writeUnion(union: readonly unknown[], beside: JsonObject, trail: Trail): readonly JsonObject[] {
    const some = union.filter((branch) => branch !== false && !isNull(branch))
    if (some.length === 0) return [{ type: 'NULL' }]
    // A single branch is the schema itself; keywords beside the union take precedence.
    const written =
      some.length === 1
        ? this.#writeBranches({ ...beside, allOf: some }, {}, trail)
        : some.flatMap((branch) => this.#writeBranches(branch, beside, trail))
    return union.some(isNull) ? written.map(markNullable) : written
  }

  #writeType(type: TypeName, schema: JsonObject, trail: Trail): JsonObject {
    const common = { type: type.toUpperCase(), ...pickAnnotations(schema) }
    switch (type) {
      case 'string':
        return {
          ...common,
          ...pickFormat(schema, ['enum', 'date-time']),
          ...pickNumbers(schema, ['minLength', 'maxLength']),
          ...(typeof schema['pattern'] === 'string' && { pattern: schema['pattern'] }),
          ...this.#writeEnum(schema),
        }
      case 'integer':
        this.#checkLiterals(schema)
        return { ...common, ...pickFormat(schema, ['int32', 'int64']), ...readBounds(schema, type) }
      case 'number':
        this.#checkLiterals(schema)
        return {
          ...common,
          ...pickFormat(schema, ['float', 'double']),
          ...readBounds(schema, type),
        }
      case 'boolean':
        if (typeof schema['const'] !== 'boolean') this.#checkLiterals(schema)
        return common
      case 'null':
        return common
      case 'array':
        this.#checkLiterals(schema)
        return {
          ...common,
          items: this.#writeItems(schema, trail),
          ...pickNumbers(schema, ['minItems', 'maxItems']),
        }
      case 'object':
        this.#checkLiterals(schema)
        return {
          ...common,
          ...this.#writeMembers(schema, trail),
          ...pickNumbers(schema, ['minProperties', 'maxProperties']),
        }
      default:
        return type satisfies never
    }
  }

  #writeEnum(schema: JsonObject): { enum?: readonly string[] } {
    const literals = readLiterals(schema)
    if (!literals?.every((value) => typeof value === 'string')) {
      this.#checkLiterals(schema)
      return {}
    }
    const values = literals.filter((value) => value !== '')
    return values.length > 0 ? { enum: values } : {}
  }

  /** Marks the schema as lossy when it lists values: only strings can have an `enum`. */
  #checkLiterals(schema: JsonObject): void {
    if (readLiterals(schema)) this.isLossless = false
  }

  #writeItems({ items, prefixItems }: JsonObject, trail: Trail): JsonObject {
    const places = Array.isArray(prefixItems) ? prefixItems : items
    if (Array.isArray(places)) return this.#markLossy(this.#write(places[0], trail))
    // Gemini refuses an array without `items`.
    return items === undefined || items === false ? { type: 'STRING' } : this.#write(items, trail)
  }

  #writeMembers(schema: JsonObject, trail: Trail): object {
    const { properties, required, propertyOrdering, additionalProperties, patternProperties } =
      schema
    if (isFilled(additionalProperties) || isFilled(patternProperties)) this.isLossless = false
    const members = Object.entries(isObject(properties) ? properties : {})
      .filter(([, member]) => member !== false)
      .map(([name, member]): [string, JsonObject] => [name, this.#write(member, trail)])
    if (members.length === 0) return this.#markLossy({})
    const names = new Set(members.map(([name]) => name))
    // Gemini refuses a name that is not a property.
    const named = (list: unknown) =>
      Array.isArray(list) ? [...new Set(list)].filter((name) => names.has(name)) : []
    const needed = named(required)
    const ordered = named(propertyOrdering)
    return {
      properties: Object.fromEntries(members),
      ...(needed.length > 0 && { required: needed }),
      ...(ordered.length > 0 && { propertyOrdering: ordered }),
    }
  }

  #markLossy<Schema>(schema: Schema): Schema {
    this.isLossless = false
    return schema
  }
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

function markNullable(schema: JsonObject): JsonObject {
  return { ...schema, nullable: true }
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
