import type { ByteSpan } from '../../core/layout.ts'

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
  /** The bytes of its text, if it is a string, count. */
  readonly countsText: boolean
  /** The bytes of its JSON, if it is an object or an array, count. */
  readonly countsJson: boolean
  /** The list that gets the tally of this value; undefined when it belongs to the tally around it. */
  readonly tally: string | undefined
  /** The described members of an object. All others may be anything. */
  readonly members: ShapeMembers | undefined
  /** The items of an array; undefined when they may be anything. */
  readonly items: Shape | undefined
  readonly minItems: number
  /** A string must not begin with these bytes. */
  readonly avoids: Uint8Array | undefined
}

/** The shape of an object with members of these names. */
export interface ObjectShape<Name extends string> extends Shape {
  /** No span for any of them. A copy of it takes a tenth of the time of adding each. */
  readonly noSpans: Readonly<Record<Name, readonly ByteSpan[]>>
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
  /** The bits of the members that must be present beside this one. */
  readonly needs: number
  readonly shape: Shape
  /** The members of the rest of the object, by the value of this one; undefined for all but a type. */
  readonly variants: readonly ShapeVariant[] | undefined
}

export interface ShapeVariant {
  /** Undefined in the last variant, which is that of all other values. */
  readonly value: Uint8Array | undefined
  /** Undefined when nothing matches. */
  readonly members: ShapeMembers | undefined
}

/** The shapes of members by their names. */
export type MemberShapes = Readonly<Record<string, Shape>>

const encoder = new TextEncoder()

/** A value that must not be there. */
export const absent: Shape = Object.freeze({
  types: 0,
  countsText: false,
  countsJson: false,
  tally: undefined,
  members: undefined,
  items: undefined,
  minItems: 0,
  avoids: undefined,
})

export const anything: Shape = Object.freeze({ ...absent, types: 63 })
export const text: Shape = Object.freeze({ ...absent, types: jsonType.string })
export const number: Shape = Object.freeze({ ...absent, types: jsonType.number })
export const flag: Shape = Object.freeze({ ...absent, types: jsonType.boolean })
export const anyObject: Shape = Object.freeze({ ...absent, types: jsonType.object })

/** A string of which the UTF-8 bytes count. */
export const countedText: Shape = Object.freeze({ ...text, countsText: true })

/** An object or array of which the UTF-8 bytes count that `JSON.stringify` writes. */
export function countedJson(shape: Shape): Shape {
  return { ...shape, countsJson: true }
}

/** A string that is not empty and does not begin with `prefix`. */
export function textWithout(prefix: string): Shape {
  return { ...text, avoids: encoder.encode(prefix) }
}

/**
 * A value whose counted bytes go to a list. Nothing goes there for `null`, nor for an array whose items have
 * tallies.
 */
export function talliedIn(list: string, shape: Shape): Shape {
  return { ...shape, tally: list }
}

export function orNull(shape: Shape): Shape {
  return { ...shape, types: shape.types | jsonType.null }
}

export function arrayOf(items: Shape, minItems = 0): Shape {
  return { ...absent, types: jsonType.array, items, minItems }
}

/** A string of which the bytes count, or a value of another type. */
export function countedTextOr(other: Shape): Shape {
  return { ...other, types: other.types | jsonType.string, countsText: true }
}

/**
 * An object in which each of these members occurs at most once. `needs` lists, by the name of a member, others that
 * must be present beside it.
 */
export function objectOf<const Members extends MemberShapes>(
  members: Members,
  required: readonly string[] = [],
  needs: Readonly<Partial<Record<string, readonly string[]>>> = {},
): ObjectShape<keyof Members & string> {
  const plain = listMembers(members)
  const listed = plain.map((member) => ({ ...member, needs: toBits(plain, needs[member.name]) }))
  return {
    ...anyObject,
    // Has the keys of the type.
    noSpans: Object.fromEntries(listed.map(({ name }) => [name, nowhere])) as Record<
      keyof Members & string,
      readonly ByteSpan[]
    >,
    members: createMembers(listed, toBits(listed, required)),
  }
}

function toBits(members: readonly ShapeMember[], names: readonly string[] = []): number {
  return members.reduce((all, { name, bit }) => (names.includes(name) ? all | bit : all), 0)
}

const nowhere: readonly ByteSpan[] = Object.freeze([])

/** The members that follow the type of an object. */
export interface Variant {
  readonly members: MemberShapes
  readonly required?: readonly string[]
}

export interface VariantOptions {
  /** The variant of all types that are not named. */
  readonly otherwise: Variant
  /** The types that do not match. */
  readonly without: readonly string[]
}

/** An object whose members depend on the string in its `type`, which is required and precedes them. */
export function objectByType(
  variants: Readonly<Record<string, Variant>>,
  { otherwise, without }: VariantOptions,
): Shape {
  // The type comes first everywhere, so that its bit is the same.
  const follow = ({ members, required }: Variant) =>
    objectOf({ type: absent, ...members }, required).members
  const all = [...Object.values(variants), otherwise]
  const early = all.flatMap(({ members }) => Object.keys(members).map((name) => [name, absent]))
  const [type, ...others] = listMembers({ type: text, ...Object.fromEntries(early) })
  const chosen: ShapeMember = {
    // Listed first.
    ...(type as ShapeMember),
    variants: [
      ...without.map((value) => ({ value: encoder.encode(value), members: undefined })),
      ...Object.entries(variants).map(([value, variant]) => ({
        value: encoder.encode(value),
        members: follow(variant),
      })),
      { value: undefined, members: follow(otherwise) },
    ],
  }
  return { ...anyObject, members: createMembers([chosen, ...others], chosen.bit) }
}

function listMembers(members: MemberShapes): ShapeMember[] {
  return Object.entries(members).map(([name, shape], index) => ({
    name,
    key: encoder.encode(name),
    bit: 1 << index,
    needs: 0,
    shape,
    variants: undefined,
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
