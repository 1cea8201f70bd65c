/** A half-open range of bytes in a body. */
export interface ByteSpan {
  readonly start: number
  readonly end: number
}

/** The byte positions of some top-level members of a JSON object, and where to add one. */
export type MemberLayout<Name extends string> = Pick<
  ObjectLayout<Name>,
  'spans' | 'close' | 'isEmpty'
>

/** How long a mark in a request keeps the prompt in the vendor's cache; `none` without a mark. */
export type CacheLife = 'none' | '5m' | '1h'

/** The byte positions and sizes found by one scan of a JSON object. */
export interface ObjectLayout<Name extends string> {
  /** The nesting depth of containers; the object itself has depth 1. */
  readonly depth: number
  /** The number of objects, arrays, members of objects, and array elements that are not numbers. */
  readonly values: number
  /** The number of commas. With the number of arrays it bounds their elements, numbers included. */
  readonly commas: number
  /** That of the mark of prompt caching that keeps longest, at any depth. */
  readonly cacheLife: CacheLife
  /** The values of the requested top-level members; a duplicate key has several. */
  readonly spans: Readonly<Record<Name, readonly ByteSpan[]>>
  /** The requested names that a top-level key spells in a different letter case. */
  readonly misspelled: readonly Name[]
  /** The offset of the object's closing brace. */
  readonly close: number
  readonly isEmpty: boolean
  /** Where a long text can be cut, so that it can be parsed in steps. */
  readonly cuts: readonly Cut[]
}

/** A comma between two members or elements. */
export interface Cut {
  readonly at: number
  /** The containers around the comma, outermost first. */
  readonly open: readonly OpenContainer[]
}

export type OpenContainer =
  | { readonly kind: 'array' }
  /** `key` is the span of the open member's key with its quotes; unused for the innermost object. */
  | { readonly kind: 'object'; readonly key: ByteSpan }
