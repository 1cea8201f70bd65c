import { UpstreamFault } from '../../core/failure.ts'
import { closeBracket, comma, isSpace, letterE, minus, plus, point, zero } from './codes.ts'
import { countDigits, isDigit, parseDigits } from './digits.ts'

/** The output format: the JSON text as it arrived, or little-endian float32. */
export type NumberForm = 'text' | 'float32'

/** The numbers of one JSON array. */
export interface NumberArray {
  readonly form: NumberForm
  readonly length: number
  /** The text between the brackets, or four bytes per number, in consecutive pieces. */
  readonly pieces: readonly Uint8Array[]
}

/** Upper bound of the bytes that the fast path reads for one number: five words and a prefix. */
const maxPlainBytes = 32

/** Maximum length of a number in bytes, far more than any JSON writer produces. */
const maxNumberBytes = 1024

/**
 * Reads the numbers of one flat JSON array that arrives in pieces. It checks every number against the
 * JSON grammar, since the text may be copied into another document, and for a finite float32 value. The
 * bench scenario is `embeddings`, where `parsed` shows the cost of `JSON.parse` and `JSON.stringify`.
 */
export class NumberReader {
  readonly #form: NumberForm
  readonly #pieces: Uint8Array[] = []
  #floats: DataView<ArrayBuffer>
  #length = 0
  #expects: 'number' | 'separator' = 'number'

  /** `expected` is the probable number of values; if it is right, no memory is copied. */
  constructor(form: NumberForm, expected: number) {
    this.#form = form
    this.#floats = new DataView(new ArrayBuffer(form === 'float32' ? expected * 4 : 0))
  }

  /**
   * Reads from `from` to the closing bracket or the last complete number, and returns that index. The
   * caller must prepend the remaining bytes to the next piece.
   */
  read(bytes: Uint8Array, from: number): number {
    const end = this.#scan(bytes, from)
    if (this.#form === 'text' && end > from) this.#pieces.push(bytes.subarray(from, end))
    if (bytes.length - end > maxNumberBytes && bytes[end] !== closeBracket) throw malformed()
    return end
  }

  /** Returns the array after the closing bracket is reached. */
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
        // The number may continue in the next piece.
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
   * The fast path: reads numbers with one digit, a point, more digits and a comma, the form of nearly all
   * numbers in vectors. Returns the index of the first number in another form.
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
      // Digits after the twentieth place are skipped.
      const kept = at + more
      let end = kept
      if (more === 4) while (isDigit(bytes[end] as number)) end++
      if (end === fraction || bytes[end] !== comma) break
      this.#length++
      if (isKept) {
        digits = digits * powerOfTen(more) + parseDigits(word, more)
        let value = digits / powerOfTen(kept - fraction)
        // The quotient of two exact numbers is the nearest double.
        const isExact = digits <= Number.MAX_SAFE_INTEGER && end === kept
        if (!isExact && isNearTie(value)) value = Number(decodeAscii(bytes, first, end))
        this.#keep(first > begin ? -value : value)
      }
      next = end + 1
    }
    return next
  }

  /** Reads one number of any form and returns its end; `bytes.length` if it may be incomplete. */
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

  /** Stores the number that was just counted. */
  #keep(value: number): void {
    const offset = this.#length * 4 - 4
    if (offset >= this.#floats.byteLength) this.#floats = growBuffer(this.#floats)
    this.#floats.setFloat32(offset, value, true)
  }
}

const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** True for a byte of a number: a digit, a sign, a point or an exponent letter. */
export function isInNumber(byte: number): boolean {
  if (isDigit(byte) || byte === point || byte === minus || byte === plus) return true
  return (byte | 0x20) === letterE
}

/** Returns the index after white space; OpenAI writes each number on its own line. */
function skipSpace(bytes: Uint8Array, from: number): number {
  let at = from
  while (at < bytes.length && isSpace(bytes[at] as number)) at++
  return at
}

const powers = Float64Array.from({ length: 21 }, (_, exponent) => 10 ** exponent)

/** Returns a power of ten up to 10**20, which a double represents exactly. */
function powerOfTen(exponent: number): number {
  return powers[exponent] as number
}

/** True if the rounding error or the skipped digits could change the resulting float32. */
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
  return new UpstreamFault({
    kind: 'malformed',
    detail: 'an array in the response is not a vector of numbers',
  })
}
