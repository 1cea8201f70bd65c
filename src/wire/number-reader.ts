import { UpstreamFault } from '../core/failure.ts'
import { countDigits, isDigit, parseDigits } from './digits.ts'

/** What becomes of the numbers: their JSON text as it came, or little-endian float32. */
export type NumberForm = 'text' | 'float32'

/** The numbers of one JSON array. */
export interface NumberArray {
  readonly form: NumberForm
  readonly length: number
  /** What stands between the brackets, or four bytes a number; in pieces that join up. */
  readonly pieces: readonly Uint8Array[]
}

/** More bytes than four words of digits and what stands before them. */
const maxPlainBytes = 32

/** The longest number that a JSON writer has reason to make, with much to spare. */
const maxNumberBytes = 1024

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
    if (bytes.length - end > maxNumberBytes && bytes[end] !== closeBracket) throw malformed()
    return end
  }

  /** What has been read, once the closing bracket is reached. */
  take(): NumberArray {
    const pieces =
      this.#form === 'text'
        ? this.#pieces
        : [new Uint8Array(trimBuffer(this.#floats, this.#length * 4))]
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
        const start = at
        at = this.#readPlainNumbers(bytes, start)
        if (at > start) continue
        const next = this.#readAnyNumber(bytes, start)
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
   * Reads numbers from `start` on as long as they are written like nearly all numbers of a vector: a
   * digit, a point, some more digits, and a comma. Returns where the first other one begins.
   */
  #readPlainNumbers(bytes: Uint8Array, start: number): number {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    const isKept = this.#form === 'float32'
    const last = bytes.length - maxPlainBytes
    let next = start
    while (next < last) {
      const begin = isSpace(bytes[next] as number) ? skipSpace(bytes, next) : next
      const first = bytes[begin] === minus ? begin + 1 : begin
      const fraction = first + 2
      if (fraction > last || bytes[first + 1] !== point || !isDigit(bytes[first] as number)) break
      let digits = (bytes[first] as number) - zero
      let at = fraction
      let word = view.getInt32(at, true)
      let more = countDigits(word)
      while (more === 4 && at < fraction + 16) {
        digits = digits * 10_000 + parseDigits(word, 4)
        at += 4
        word = view.getInt32(at, true)
        more = countDigits(word)
      }
      // Digits past the twentieth place stay out.
      const kept = at + more
      let end = kept
      if (more === 4) while (isDigit(bytes[end] as number)) end++
      if (end === fraction || bytes[end] !== comma) break
      this.#length++
      if (isKept) {
        digits = digits * powerOfTen(more) + parseDigits(word, more)
        let value = digits / powerOfTen(kept - fraction)
        // A quotient of two numbers that are exact is as near as a double can be.
        const isExact = digits <= Number.MAX_SAFE_INTEGER && end === kept
        if (!isExact && isNearTie(value)) value = Number(decodeAscii(bytes, first, end))
        this.#keep(first > begin ? -value : value)
      }
      next = end + 1
    }
    return next
  }

  /**
   * Reads one number of any form, and returns where it ends; the end of the bytes means not yet.
   */
  #readAnyNumber(bytes: Uint8Array, start: number): number {
    let at = start
    while (at < bytes.length && isInNumber(bytes[at] as number)) at++
    if (at >= bytes.length) return at
    const text = decodeAscii(bytes, start, Math.min(at, start + maxNumberBytes))
    const value = jsonNumber.test(text) ? Number(text) : Number.NaN
    if (!Number.isFinite(Math.fround(value))) throw malformed()
    this.#length++
    if (this.#form === 'float32') this.#keep(value)
    return at
  }

  /** Writes the number that has just been counted. */
  #keep(value: number): void {
    const offset = this.#length * 4 - 4
    if (offset >= this.#floats.byteLength) this.#floats = growBuffer(this.#floats)
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

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

/** The place after the blanks; OpenAI itself writes every number on a line of its own. */
function skipSpace(bytes: Uint8Array, from: number): number {
  let at = from
  while (at < bytes.length && isSpace(bytes[at] as number)) at++
  return at
}

const powers = Float64Array.from({ length: 21 }, (_, exponent) => 10 ** exponent)

/** A power of ten that is exact as a double. */
function powerOfTen(exponent: number): number {
  return powers[exponent] as number
}

/** What was lost, in rounding or by digits left out, could decide to which float32 it is rounded. */
function isNearTie(value: number): boolean {
  return Math.fround(value * (1 - 1e-15)) !== Math.fround(value * (1 + 1e-15) + 1e-20)
}

function decodeAscii(bytes: Uint8Array, from: number, to: number): string {
  return String.fromCharCode(...bytes.subarray(from, to))
}

function growBuffer(floats: DataView<ArrayBuffer>): DataView<ArrayBuffer> {
  const larger = new Uint8Array(Math.max(1024, floats.byteLength * 2))
  larger.set(new Uint8Array(floats.buffer))
  return new DataView(larger.buffer)
}

function trimBuffer({ buffer }: DataView<ArrayBuffer>, length: number): ArrayBuffer {
  return buffer.byteLength === length ? buffer : buffer.slice(0, length)
}

function malformed(): UpstreamFault {
  return new UpstreamFault({ kind: 'malformed', detail: 'an array of the answer is no vector' })
}
