import { UpstreamFault } from '../core/failure.ts'

/** What becomes of the numbers: their JSON text as it came, or little-endian float32. */
export type NumberForm = 'text' | 'float32'

/** The numbers of one JSON array. */
export interface NumberArray {
  readonly form: NumberForm
  readonly length: number
  /** What stands between the brackets, or four bytes a number; in pieces that join up. */
  readonly pieces: readonly Uint8Array[]
}

/** The longest number that a JSON writer has reason to make, with much to spare. */
const longestNumber = 1024
/** From here on a number would be infinite as float32. */
const float32Limit = 2 ** 128 * (1 - 2 ** -25)

/**
 * Reads the numbers of one flat JSON array that arrives in pieces. Every number is held against the
 * grammar, since its text may go into another JSON document as it is, and must be finite.
 */
export class NumberReader {
  readonly #form: NumberForm
  readonly #pieces: Uint8Array[] = []
  #floats: DataView<ArrayBuffer>
  #length = 0
  #expects: 'number' | 'separator' = 'number'

  /** `expected`: the probable length, so that no memory has to be copied. */
  constructor(form: NumberForm, expected: number) {
    this.#form = form
    this.#floats = new DataView(new ArrayBuffer(form === 'float32' ? expected * 4 : 0))
  }

  /**
   * Reads on, from `from`, to the closing bracket or as far as whole numbers go. Returns where that
   * is: the rest of a piece that ends inside a number belongs before the next piece.
   */
  read(bytes: Uint8Array, from: number): number {
    const end = this.#scan(bytes, from)
    if (this.#form === 'text' && end > from) this.#pieces.push(bytes.subarray(from, end))
    if (bytes.length - end > longestNumber && bytes[end] !== closeBracket) throw malformed()
    return end
  }

  /** What has been read, once the closing bracket is reached. */
  take(): NumberArray {
    const pieces =
      this.#form === 'text' ? this.#pieces : [new Uint8Array(exact(this.#floats, this.#length * 4))]
    return { form: this.#form, length: this.#length, pieces }
  }

  #scan(bytes: Uint8Array, from: number): number {
    const end = bytes.length
    let at = from
    for (;;) {
      while (at < end && isSpace(bytes[at])) at++
      if (at >= end) return at
      if (this.#expects === 'separator') {
        if (bytes[at] === closeBracket) return at
        if (bytes[at] !== comma) throw malformed()
        this.#expects = 'number'
        at++
        continue
      }
      const next = this.#number(bytes, at)
      // The number may go on in the next piece.
      if (next >= end) return at
      this.#expects = 'separator'
      at = next
    }
  }

  /** Reads the number at `start`, and returns where it ends; the end of the bytes means not yet. */
  #number(bytes: Uint8Array, start: number): number {
    const end = bytes.length
    let at = start
    if (bytes[at] === minus) at++
    const first = at
    let mantissa = 0
    let exponent = 0
    let cut = false
    for (; at < end; at++) {
      const digit = (bytes[at] as number) - zero
      if (digit < 0 || digit > 9) break
      if (mantissa < exactMantissa) mantissa = mantissa * 10 + digit
      else {
        cut = true
        exponent++
      }
    }
    if (at >= end) return end
    if (at === first || (bytes[first] === zero && at - first > 1)) throw malformed()
    if (bytes[at] === point) {
      const fraction = ++at
      for (; at < end; at++) {
        const digit = (bytes[at] as number) - zero
        if (digit < 0 || digit > 9) break
        if (mantissa < exactMantissa) {
          mantissa = mantissa * 10 + digit
          exponent--
        } else cut = true
      }
      if (at >= end) return end
      if (at === fraction) throw malformed()
    }
    if (((bytes[at] as number) | 0x20) === letterE) {
      const sign = bytes[++at]
      if (sign === minus || sign === plus) at++
      const power = at
      let value = 0
      for (; at < end; at++) {
        const digit = (bytes[at] as number) - zero
        if (digit < 0 || digit > 9) break
        if (value < 10_000) value = value * 10 + digit
      }
      if (at >= end) return end
      if (at === power) throw malformed()
      exponent += sign === minus ? -value : value
    }
    let value = scaled(mantissa, exponent)
    if (value === undefined || (cut && isNearTie(value))) value = exactly(bytes, first, at)
    if (!(value < float32Limit)) throw malformed()
    this.#add(bytes[start] === minus ? -value : value)
    return at
  }

  #add(value: number): void {
    const offset = this.#length++ * 4
    if (this.#form === 'text') return
    if (offset >= this.#floats.byteLength) this.#floats = grown(this.#floats)
    this.#floats.setFloat32(offset, value, true)
  }
}

const minus = 0x2d
const plus = 0x2b
const point = 0x2e
const zero = 0x30
const letterE = 0x65
const comma = 0x2c
const closeBracket = 0x5d

/** Below this a mantissa can take one more digit and is still exact as a double. */
const exactMantissa = 9e14
/** The powers of ten that are exact as doubles. */
const powers = Array.from({ length: 23 }, (_, exponent) => 10 ** exponent)

/**
 * The mantissa moved by so many digits: correctly rounded as long as the mantissa is whole, and both
 * it and the power are exact. Undefined where the power is not.
 */
function scaled(mantissa: number, exponent: number): number | undefined {
  if (exponent === 0 || mantissa === 0) return mantissa
  return exponent < 0
    ? divided(mantissa, powers[-exponent])
    : multiplied(mantissa, powers[exponent])
}

function divided(value: number, by: number | undefined): number | undefined {
  return by === undefined ? undefined : value / by
}

function multiplied(value: number, by: number | undefined): number | undefined {
  return by === undefined ? undefined : value * by
}

/** The digits that were cut off could decide to which float32 the value is rounded. */
function isNearTie(value: number): boolean {
  return Math.fround(value * (1 - 2 ** -48)) !== Math.fround(value * (1 + 2 ** -48))
}

/** The number as the platform reads it: right in every case, but slow. */
function exactly(bytes: Uint8Array, from: number, to: number): number {
  return Number(String.fromCharCode(...bytes.subarray(from, to)))
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

function grown(floats: DataView<ArrayBuffer>): DataView<ArrayBuffer> {
  const larger = new Uint8Array(Math.max(1024, floats.byteLength * 2))
  larger.set(new Uint8Array(floats.buffer))
  return new DataView(larger.buffer)
}

function exact({ buffer }: DataView<ArrayBuffer>, length: number): ArrayBuffer {
  return buffer.byteLength === length ? buffer : buffer.slice(0, length)
}

function malformed(): UpstreamFault {
  return new UpstreamFault({ kind: 'malformed', detail: 'an array of the answer is no vector' })
}
