/*
 * Descriptions of JSON for `matchJson`: what a value must be, and which of its bytes count. They say less
 * than a schema, because a value that does not match is parsed and judged by its schema.
 */

/** The types of JSON values, as bits. */
export const jsonType = {
  string: 1,
  number: 2,
  boolean: 4,
  null: 8,
  object: 16,
  array: 32,
} as const

/** What a JSON value must be. */
export interface Shape {
  /** The accepted types: bits of `jsonType`. */
  readonly types: number
  /** What the value adds to its tally: nothing, the bytes of its text, or those of its JSON. */
  readonly counts: 'nothing' | 'text' | 'json'
  /** The list that gets the tally of this value; undefined when it belongs to the tally around it. */
  readonly tally: string | undefined
  /** The described members of an object. All others may be anything. */
  readonly members: ShapeMembers | undefined
  /** The items of an array; undefined when they may be anything. */
  readonly items: Shape | undefined
  readonly minItems: number
}

/** The shape of an object with members of these names. */
export interface ObjectShape<Name extends string> extends Shape {
  readonly names: readonly Name[]
}

export interface ShapeMembers {
  /** The members by the length of their names. */
  readonly byLength: readonly (readonly ShapeMember[] | undefined)[]
  /** The bits of the members that must be present. */
  readonly required: number
}

export interface ShapeMember {
  readonly name: string
  /** The name as bytes. */
  readonly key: Uint8Array
  readonly bit: number
  readonly shape: Shape
}

/** The shapes of members by their names. */
export type MemberShapes = Readonly<Record<string, Shape>>

/** A value that must not be there. */
export const absent: Shape = Object.freeze({
  types: 0,
  counts: 'nothing',
  tally: undefined,
  members: undefined,
  items: undefined,
  minItems: 0,
})

export const anything: Shape = Object.freeze({ ...absent, types: 63 })
export const text: Shape = Object.freeze({ ...absent, types: jsonType.string })
export const number: Shape = Object.freeze({ ...absent, types: jsonType.number })
export const flag: Shape = Object.freeze({ ...absent, types: jsonType.boolean })
export const anyObject: Shape = Object.freeze({ ...absent, types: jsonType.object })

/** A string of which the UTF-8 bytes count. */
export const countedText: Shape = Object.freeze({ ...text, counts: 'text' })

/** A value of which the UTF-8 bytes count that `JSON.stringify` writes. */
export function countedJson(shape: Shape): Shape {
  return { ...shape, counts: 'json' }
}

/** An object or an array whose counted bytes go to a list. */
export function talliedIn(list: string, shape: Shape): Shape {
  return { ...shape, tally: list }
}

export function orNull(shape: Shape): Shape {
  return { ...shape, types: shape.types | jsonType.null }
}

export function arrayOf(items: Shape, minItems = 0): Shape {
  return { ...absent, types: jsonType.array, items, minItems }
}

/** A string of which the bytes count, or an array. */
export function countedTextOr(array: Shape): Shape {
  return { ...array, types: array.types | jsonType.string, counts: 'text' }
}

/** An object in which each of these members occurs at most once. */
export function objectOf<const Members extends MemberShapes>(
  members: Members,
  required: readonly (keyof Members & string)[] = [],
): ObjectShape<keyof Members & string> {
  const listed = listMembers(members)
  const bits = listed.filter(({ name }) => required.includes(name)).map(({ bit }) => bit)
  return {
    ...anyObject,
    // The keys of the type.
    names: Object.keys(members) as (keyof Members & string)[],
    members: createMembers(
      listed,
      bits.reduce((all, bit) => all | bit, 0),
    ),
  }
}

const encoder = new TextEncoder()

function listMembers(members: MemberShapes): ShapeMember[] {
  return Object.entries(members).map(([name, shape], index) => ({
    name,
    key: encoder.encode(name),
    bit: 1 << index,
    shape,
  }))
}

function createMembers(members: readonly ShapeMember[], required: number): ShapeMembers {
  const byLength: ShapeMember[][] = []
  for (const member of members) {
    const { length } = member.key
    byLength[length] = [...(byLength[length] ?? []), member]
  }
  return { byLength, required }
}
