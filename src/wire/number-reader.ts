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

/**
 * Reads the numbers of one flat JSON array that arrives in pieces. Every number is held against the
 * grammar, since its text may go into another JSON document as it is, and must be finite as float32.
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
    let expects = this.#expects
    let at = from
    while (at < end) {
      const byte = bytes[at] as number
      if (isSpace(byte)) at++
      else if (expects === 'number') {
        const next = this.#number(bytes, at)
        // The number may go on in the next piece.
        if (next >= end) break
        expects = 'separator'
        at = next
      } else if (byte === comma) {
        expects = 'number'
        at++
      } else if (byte === closeBracket) break
      else throw malformed()
    }
    this.#expects = expects
    return at
  }

  /**
   * Reads the number at `start`, and returns where it ends; the end of the bytes means not yet. The
   * way that nearly every number of a vector goes: one digit, a point, and some more digits.
   */
  #number(bytes: Uint8Array, start: number): number {
    const end = bytes.length
    const first = bytes[start] === minus ? start + 1 : start
    const fraction = first + 2
    if (fraction >= end || bytes[first + 1] !== point) return this.#anyNumber(bytes, start)
    let digit = (bytes[first] as number) - zero
    if (digit < 0 || digit > 9) throw malformed()
    // Two integers, of nine digits and of six: quicker than a double, and exact like it.
    let high = digit
    let at = fraction
    const middle = Math.min(end, fraction + 8)
    while (at < middle && (digit = (bytes[at] as number) - zero) >= 0 && digit <= 9) {
      high = high * 10 + digit
      at++
    }
    const highEnd = at
    let low = 0
    const last = Math.min(end, fraction + 14)
    while (at < last && (digit = (bytes[at] as number) - zero) >= 0 && digit <= 9) {
      low = low * 10 + digit
      at++
    }
    const kept = at
    while (at < end && isDigit(bytes[at] as number)) at++
    if (at >= end) return end
    if (kept === fraction || ((bytes[at] as number) | 0x20) === letterE) {
      return this.#anyNumber(bytes, start)
    }
    let value = (high * power(kept - highEnd) + low) / power(kept - fraction)
    if (at > kept && isNearTie(value)) value = Number(textOf(bytes, first, at))
    this.#add(first > start ? -value : value)
    return at
  }

  /** The same for a number of any form: right in every case, but slow. */
  #anyNumber(bytes: Uint8Array, start: number): number {
    let at = start
    while (at < bytes.length && isInNumber(bytes[at] as number)) at++
    if (at >= bytes.length) return at
    const text = textOf(bytes, start, Math.min(at, start + longestNumber))
    const value = jsonNumber.test(text) ? Number(text) : Number.NaN
    if (!Number.isFinite(Math.fround(value))) throw malformed()
    this.#add(value)
    return at
  }

  #add(value: number): void {
    const offset = this.#length++ * 4
    if (this.#form === 'text') return
    if (offset >= this.#floats.byteLength) this.#floats = grown(this.#floats)
    this.#floats.setFloat32(offset, value, true)
  }
}

const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

const minus = 0x2d
const plus = 0x2b
const point = 0x2e
const zero = 0x30
const letterE = 0x65
const comma = 0x2c
const closeBracket = 0x5d

/** A digit, a sign, a point or an exponent's letter. */
export function isInNumber(byte: number): boolean {
  if (isDigit(byte) || byte === point || byte === minus || byte === plus) return true
  return (byte | 0x20) === letterE
}

export function isDigit(byte: number): boolean {
  return byte >= zero && byte <= zero + 9
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

const powers = Float64Array.from({ length: 15 }, (_, exponent) => 10 ** exponent)

/** A small power of ten, which is exact as a double; so is what has fifteen digits. */
function power(exponent: number): number {
  return powers[exponent] as number
}

/** The digits after the fourteenth place could decide to which float32 the value is rounded. */
function isNearTie(value: number): boolean {
  return Math.fround(value - 2e-15) !== Math.fround(value + 1.3e-14)
}

function textOf(bytes: Uint8Array, from: number, to: number): string {
  return String.fromCharCode(...bytes.subarray(from, to))
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
