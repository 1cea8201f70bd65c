import { CannotExpress } from '../../../core/cannot-express.ts'
import type { Raw } from '../openai/messages.ts'
import { isObject } from '../openai/usage.ts'

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

/** References multiply: a few definitions that use each other twice would fill the memory. */
const mostNodes = 5000
const mostDepth = 128

/** Reads one JSON schema, for dialects that must write it in another form. */
export class SchemaReader {
  readonly #root: Raw
  readonly #place: string
  #nodes = 0

  /** `place`: the dotted path of the schema in the request. */
  constructor(root: Raw, place: string) {
    this.#root = root
    this.#place = place
  }

  /**
   * A schema with its `$ref` followed and its `allOf` merged into it. Undefined when it stands
   * inside itself, or the whole has grown beyond all measure. Throws `CannotExpress` for a reference
   * to nothing.
   */
  resolve(schema: Raw, { open, depth }: Trail): Resolved | undefined {
    this.#nodes++
    if (this.#nodes > mostNodes || depth > mostDepth) return undefined
    const { $ref: pointer, allOf, ...own } = schema
    if (typeof pointer === 'string') {
      if (open.includes(pointer)) return undefined
      const target = this.#targetOf(pointer)
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
    const merged = mergeSchemas([...members, own])
    return { schema: merged, trail: { open: [...opened], depth: depth + 1 } }
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
      throw new CannotExpress(
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
