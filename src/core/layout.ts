/** A half-open range of bytes in a body. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** Where things stand in the bytes of a JSON object. */
export interface ObjectLayout<Name extends string> {
  /** How deeply containers are nested; the object itself is 1. */
  readonly depth: number
  /** The values of the top-level members asked for, every occurrence of a duplicate key. */
  readonly spans: Readonly<Record<Name, readonly Span[]>>
  /** Where the object's closing brace stands. */
  readonly close: number
  readonly empty: boolean
}
