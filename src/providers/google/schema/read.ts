import { UntranslatableError } from '../../../core/cannot-express.ts'
import { isObject } from '../../../wire/json.ts'
import type { Raw } from '../../canonical/messages.ts'

/** How a reader came to where it is: the references that it has followed, and how deep it is. */
export interface Trail {
  readonly open: readonly string[]
  readonly depth: number
}

export const trailhead: Trail = Object.freeze({ open: [], depth: 0 })

export interface Resolved {
  readonly schema: Raw
  /** For everything inside this schema. */
  readonly trail: Trail
}

/** The most schemas in one, including those that references lead to. */
const mostNodes = 5000
const mostDepth = 128

/** The most members and list items to copy; `textUnit` characters of text count as one. */
const mostCopied = 100_000
const textUnit = 64

/**
 * How much all schemas of a request may copy of themselves: a part that is read again through a
 * reference, or merged into another one. References and unions multiply, so that a short schema
 * could take minutes and fill the memory.
 */
export class CopyBudget {
  #left = mostCopied
  readonly #read = new Set<object>()

  get isSpent(): boolean {
    return this.#left <= 0
  }

  /** Counts a part of the request; the first time is free. */
  read(schema: Raw): void {
    if (this.#read.has(schema)) this.copy(schema)
    else this.#read.add(schema)
  }

  /** Counts a copy of this schema without the schemas inside it. */
  copy(schema: Raw): void {
    if (this.#left > 0) this.#left -= 1 + sizeOf(schema)
  }
}

function sizeOf(schema: Raw): number {
  let size = 0
  for (const keyword in schema) size += sizeOfName(keyword) + sizeOfValue(schema[keyword], keyword)
  return size
}

function sizeOfName(name: string): number {
  return 1 + name.length / textUnit
}

function sizeOfValue(value: unknown, keyword: string): number {
  if (typeof value === 'string') return value.length / textUnit
  if (typeof value !== 'object') return 0
  const members = membersIn(value)
  // Schemas inside are counted when they are read themselves.
  return holders.has(keyword) ? members : members + JSON.stringify(value).length / textUnit
}

/** Keywords whose values hold schemas. */
const holders: ReadonlySet<string> = new Set([
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

function membersIn(value: unknown): number {
  if (Array.isArray(value)) return value.length
  let size = 0
  if (isObject(value)) for (const name in value) size += sizeOfName(name)
  return size
}

/** Reads one JSON schema, for dialects that must write it in another form. */
export class SchemaReader {
  readonly #root: Raw
  readonly #place: string
  readonly #budget: CopyBudget
  #nodes = 0

  /** `place`: the dotted path of the schema in the request. */
  constructor(root: Raw, place: string, budget: CopyBudget) {
    this.#root = root
    this.#place = place
    this.#budget = budget
  }

  /**
   * A schema with its `$ref` followed and its `allOf` merged into it. Undefined when it stands
   * inside itself, or the whole is over its bound. Throws `UntranslatableError` for a reference
   * to nothing.
   */
  resolve(schema: Raw, { open, depth }: Trail): Resolved | undefined {
    this.#nodes++
    this.#budget.read(schema)
    if (this.#budget.isSpent || this.#nodes > mostNodes || depth > mostDepth) return undefined
    const { $ref: pointer, allOf, ...own } = schema
    if (typeof pointer === 'string') {
      if (open.includes(pointer)) return undefined
      const target = this.#targetOf(pointer)
      this.#budget.copy(target)
      if (this.#budget.isSpent) return undefined
      const inlined = { ...target, ...own, ...(allOf !== undefined && { allOf }) }
      return this.resolve(inlined, { open: [...open, pointer], depth: depth + 1 })
    }
    if (!Array.isArray(allOf)) return { schema: own, trail: { open, depth: depth + 1 } }
    const members: Raw[] = []
    const opened = new Set(open)
    for (const member of allOf) {
      if (!isObject(member)) continue
      const resolved = this.resolve(member, { open, depth: depth + 1 })
      if (!resolved) return undefined
      members.push(resolved.schema)
      for (const followed of resolved.trail.open) opened.add(followed)
    }
    const merged = this.merge([...members, own])
    return merged && { schema: merged, trail: { open: [...opened], depth: depth + 1 } }
  }

  /** One schema of several; undefined when the whole is over its bound. */
  merge(schemas: readonly Raw[]): Raw | undefined {
    for (const schema of schemas) this.#budget.copy(schema)
    return this.#budget.isSpent ? undefined : mergeSchemas(schemas)
  }

  /** What a pointer such as `#/$defs/Name` points to; a schema that allows anything is empty. */
  #targetOf(pointer: string): Raw {
    let target: unknown = this.#root
    const [start, ...segments] = pointer.split('/')
    for (const segment of segments) {
      const name = unescaped(segment)
      const holder: unknown = target
      target = isObject(holder) && Object.hasOwn(holder, name) ? holder[name] : undefined
    }
    if (start !== '#' || target === undefined) {
      throw new UntranslatableError(
        `${this.#place}: a $ref of the schema points to nothing in it`,
        this.#place,
      )
    }
    return isObject(target) ? target : {}
  }
}

/** One schema of several that hold together: members and requirements add up, else the last wins. */
export function mergeSchemas(schemas: readonly Raw[]): Raw {
  const properties = schemas.flatMap(({ properties: own }) =>
    isObject(own) ? Object.entries(own) : [],
  )
  const required = schemas.flatMap(({ required: own }) => (Array.isArray(own) ? own : []))
  return {
    ...Object.fromEntries(schemas.flatMap((schema) => Object.entries(schema))),
    ...(properties.length > 0 && { properties: Object.fromEntries(properties) }),
    ...(required.length > 0 && { required: [...new Set(required)] }),
  }
}

/** A segment of a JSON pointer in a URI fragment. */
function unescaped(segment: string): string {
  let text = segment
  try {
    text = decodeURIComponent(segment)
  } catch {
    // A lone percent sign stands for itself.
  }
  return text.replaceAll('~1', '/').replaceAll('~0', '~')
}

/** The closed bounds of a number, those that are exclusive included. */
export function boundsOf(
  { minimum, maximum, exclusiveMinimum: above, exclusiveMaximum: below }: Raw,
  type: 'integer' | 'number',
): { readonly minimum?: number; readonly maximum?: number } {
  const next = (value: unknown, step: 1 | -1) =>
    type === 'integer' && isNumber(value) ? Math.floor(value * step) * step + step : value
  const least = [minimum, next(above, 1)].filter(isNumber)
  const most = [maximum, next(below, -1)].filter(isNumber)
  return {
    ...(least.length > 0 && { minimum: Math.max(...least) }),
    ...(most.length > 0 && { maximum: Math.min(...most) }),
  }
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number'
}
