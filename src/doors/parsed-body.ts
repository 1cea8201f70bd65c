import { parseMatched, parseObject } from '../wire/json/body.ts'
import type { TimeSlice } from '../wire/time-slice.ts'
import { isHeavyBody, isLargeBody } from './body-weight.ts'

export interface BodySource<Value> {
  readonly bytes: Uint8Array
  /** As in `ObjectLayout`. */
  readonly values: number
  /** Undefined when only the bytes were read. */
  readonly value: Value | undefined
}

/** The body of a request and its parsed form. A heavy one does not stay parsed: it is parsed again when needed. */
export class ParsedBody<Value extends object> {
  readonly bytes: Uint8Array
  /** The work on the request must yield to other requests. */
  readonly isHeavy: boolean
  #value: Value | undefined

  constructor({ bytes, values, value }: BodySource<Value>) {
    this.bytes = bytes
    this.isHeavy = isHeavyBody(bytes, values)
    this.#value = value
  }

  /** The bytes are released as soon as an answer has begun. */
  get isLarge(): boolean {
    return isLargeBody(this.bytes)
  }

  get isParsed(): boolean {
    return this.#value !== undefined
  }

  get value(): Value {
    // Validated when it was read, by the shape or by the schema.
    this.#value ??= parseObject(this.bytes) as Value
    return this.#value
  }

  /** Parses a long body in steps; undefined when it is parsed, or short enough to be parsed in one. */
  parseInSteps(slice: TimeSlice): Promise<void> | undefined {
    if (this.#value) return undefined
    return parseMatched(this.bytes, slice)?.then((value) => {
      this.#value = value as Value
    })
  }

  /** True when `forget` drops something: what is still needed of the parsed form must be read before. */
  get mustForget(): boolean {
    return this.isHeavy && this.#value !== undefined
  }

  /** Drops the parsed form of a heavy body. */
  forget(): void {
    if (this.isHeavy) this.#value = undefined
  }
}
