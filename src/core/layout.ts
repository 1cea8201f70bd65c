/** A half-open range of bytes in a body. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** Where some top-level members of a JSON object stand, and what it takes to add one. */
export type MemberLayout<Name extends string> = Pick<
  ObjectLayout<Name>,
  'spans' | 'close' | 'isEmpty'
>

/** Where things stand in the bytes of a JSON object. */
export interface ObjectLayout<Name extends string> {
  /** How deeply containers are nested; the object itself is 1. */
  readonly depth: number
  /** Objects, arrays, members of objects, and elements of arrays that are no plain numbers. */
  readonly values: number
  /** Commas: with the arrays, a bound on the elements of all of them, numbers included. */
  readonly commas: number
  /** The values of the top-level members asked for, every occurrence of a duplicate key. */
  readonly spans: Readonly<Record<Name, readonly Span[]>>
  /** Those of the names asked for that a top-level key spells in other letter case. */
  readonly misspelled: readonly Name[]
  /** Where the object's closing brace stands. */
  readonly close: number
  readonly isEmpty: boolean
  /** Where a long text may be cut, so that it can be parsed in steps. */
  readonly cuts: readonly Cut[]
}

/** A comma between two members or elements. */
export interface Cut {
  readonly at: number
  /** The containers around the comma, the outermost first. */
  readonly open: readonly OpenContainer[]
}

export type OpenContainer =
  | { readonly kind: 'array' }
  /** `key`: where the quotes of the member stand that is open; the innermost object's is of no use. */
  | { readonly kind: 'object'; readonly key: Span }
