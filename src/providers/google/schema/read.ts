import { UntranslatableError } from '../../../core/untranslatable-error.ts'
import { isObject, type JsonObject } from '../../../wire/json/parse.ts'
import { type Merged, mergeSchemas } from './merge.ts'

/** The way of a reader to a schema: the references that it has followed, and its depth. */
export interface Trail {
  readonly open: readonly string[]
  readonly depth: number
  /** The dotted path of the schema in the request. */
  readonly path: string
}

/** In characters. Paths have names that a client chose, and a deep schema would multiply long ones. */
const maxPathLength = 512

/** Returns the trail of a schema inside another one; beyond the longest path, that of the outer one. */
export function enter(trail: Trail, ...segments: readonly string[]): Trail {
  const path = `${trail.path}.${segments.join('.')}`
  return path.length > maxPathLength ? trail : { ...trail, path }
}

export interface Resolved {
  readonly schema: JsonObject
  /** The trail for all schemas inside this one. */
  readonly trail: Trail
  /** Keywords that are not all in the schema, because the merged ones contradict each other. */
  readonly lost: readonly string[]
}

/** Limits of one schema, including the schemas that its references lead to. */
const maxNodes = 5000
const maxDepth = 128

/** Limit of copied members and list items; `charactersPerUnit` characters of text count as one. */
const maxCopied = 100_000
const charactersPerUnit = 64

/**
 * Limits how much all schemas of a request are copied: a part is copied when a reference leads to
 * it again, or when it is merged into another schema. References and unions multiply, so a short
 * schema could otherwise take minutes and fill the memory.
 */
export class CopyBudget {
  #left = maxCopied
  readonly #read = new Set<object>()

  get isSpent(): boolean {
    return this.#left <= 0
  }

  /** Counts a part of the request; its first reading is free. */
  read(schema: JsonObject): void {
    if (this.#read.has(schema)) this.copy(schema)
    else this.#read.add(schema)
  }

  /** Counts a copy of this schema, without the schemas inside it. */
  copy(schema: JsonObject): void {
    if (this.#left > 0) this.#left -= 1 + measureSchema(schema)
  }
}

function measureSchema(schema: JsonObject): number {
  let size = 0
  for (const keyword in schema)
    size += measureName(keyword) + measureValue(schema[keyword], keyword)
  return size
}

function measureName(name: string): number {
  return 1 + name.length / charactersPerUnit
}

function measureValue(value: unknown, keyword: string): number {
  if (typeof value === 'string') return value.length / charactersPerUnit
  if (typeof value !== 'object') return 0
  const members = measureMembers(value)
  // Schemas inside count when they are read.
  return schemaKeywords.has(keyword)
    ? members
    : members + JSON.stringify(value).length / charactersPerUnit
}

/** Keywords whose values contain schemas. */
const schemaKeywords: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  'additionalProperties',
  'items',
  'prefixItems',
  'anyOf',
  'oneOf',
  'allOf',
  '$defs',
  'definitions',
])

function measureMembers(value: unknown): number {
  if (Array.isArray(value)) return value.length
  let size = 0
  if (isObject(value)) for (const name in value) size += measureName(name)
  return size
}

/** The context in which a schema is read. */
export interface SchemaSource {
  /** The dotted path of the schema in the request, for error messages. */
  readonly path: string
  readonly budget: CopyBudget
}

/** Resolves the references and `allOf` of one JSON schema, for writers of another form. */
export class SchemaReader {
  readonly #root: JsonObject
  readonly #path: string
  readonly #budget: CopyBudget
  #nodes = 0
  /** The trail of the root. */
  readonly start: Trail

  constructor(root: JsonObject, { path, budget }: SchemaSource) {
    this.#root = root
    this.#path = path
    this.#budget = budget
    this.start = { open: [], depth: 0, path }
  }

  /**
   * Follows the `$ref` of a schema and merges its `allOf`. Returns undefined when the schema
   * contains itself, or the whole exceeds a limit. Throws `UntranslatableError` when a reference
   * does not resolve.
   */
  resolve(schema: JsonObject, trail: Trail): Resolved | undefined {
    const { open, depth, path } = trail
    this.#nodes++
    this.#budget.read(schema)
    if (this.#budget.isSpent || this.#nodes > maxNodes || depth > maxDepth) return undefined
    const { $ref: pointer, allOf, ...own } = schema
    if (typeof pointer === 'string') {
      if (open.includes(pointer)) return undefined
      const target = this.#followPointer(pointer)
      const inlined = this.merge([target, { ...own, ...(allOf !== undefined && { allOf }) }])
      if (!inlined) return undefined
      const { path: at } = enter(this.start, ...pointer.split('/').slice(1))
      const inner = { open: [...open, pointer], depth: depth + 1, path: at }
      const resolved = this.resolve(inlined.schema, inner)
      return resolved && { ...resolved, lost: [...inlined.lost, ...resolved.lost] }
    }
    if (!Array.isArray(allOf)) {
      return { schema: own, trail: { open, depth: depth + 1, path }, lost: [] }
    }
    const members: JsonObject[] = []
    const lost: string[] = []
    const opened = new Set(open)
    for (const member of allOf) {
      if (!isObject(member)) continue
      const resolved = this.resolve(member, { open, depth: depth + 1, path })
      if (!resolved) return undefined
      members.push(resolved.schema)
      lost.push(...resolved.lost)
      for (const followed of resolved.trail.open) opened.add(followed)
    }
    const merged = this.merge([...members, own])
    return (
      merged && {
        schema: merged.schema,
        trail: { open: [...opened], depth: depth + 1, path },
        lost: [...lost, ...merged.lost],
      }
    )
  }

  /** Merges several schemas into one; undefined when the budget is spent. */
  merge(schemas: readonly JsonObject[]): Merged | undefined {
    for (const schema of schemas) this.#budget.copy(schema)
    return this.#budget.isSpent ? undefined : mergeSchemas(schemas)
  }

  /**
   * Returns the schema at a pointer such as `#/$defs/Name`; `true` and `false` yield an empty
   * schema.
   */
  #followPointer(pointer: string): JsonObject {
    let target: unknown = this.#root
    const [start, ...segments] = pointer.split('/')
    for (const segment of segments) {
      const name = unescapePointer(segment)
      const holder: unknown = target
      target = isObject(holder) && Object.hasOwn(holder, name) ? holder[name] : undefined
    }
    if (start !== '#' || target === undefined) {
      throw new UntranslatableError(
        `${this.#path}: a $ref does not resolve inside the schema`,
        this.#path,
      )
    }
    return isObject(target) ? target : {}
  }
}

/** Unescapes a segment of a JSON pointer in a URI fragment. */
function unescapePointer(segment: string): string {
  let text = segment
  try {
    text = decodeURIComponent(segment)
  } catch {
    // A lone percent sign is literal.
  }
  return text.replaceAll('~1', '/').replaceAll('~0', '~')
}

/**
 * Returns the inclusive bounds of a number. An exclusive bound of an integer becomes the next
 * integer; that of another number becomes inclusive.
 */
export function readBounds(
  { minimum, maximum, exclusiveMinimum: above, exclusiveMaximum: below }: JsonObject,
  type: 'integer' | 'number',
): { readonly minimum?: number; readonly maximum?: number } {
  const next = (value: unknown, step: 1 | -1) =>
    type === 'integer' && isNumber(value) ? Math.floor(value * step) * step + step : value
  const minima = [minimum, next(above, 1)].filter(isNumber)
  const maxima = [maximum, next(below, -1)].filter(isNumber)
  return {
    ...(minima.length > 0 && { minimum: Math.max(...minima) }),
    ...(maxima.length > 0 && { maximum: Math.min(...maxima) }),
  }
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number'
}
