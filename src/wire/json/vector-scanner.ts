import { UpstreamFault } from '../../core/failure.ts'
import { concat } from '../byte-list.ts'
import { backslash, closeBracket, minus, openBracket, quote, space } from './codes.ts'
import { isDigit } from './digits.ts'
import { isInNumber, type NumberArray, type NumberForm, NumberReader } from './number-reader.ts'
import { tryParseJson } from './parse.ts'

/** A JSON document and its flat arrays of numbers, separated. */
export interface ScannedJson {
  /** The document with each array of numbers replaced by its index: `[0]`, `[1]`, … */
  readonly json: unknown
  readonly arrays: readonly NumberArray[]
}

/** Maximum number of arrays, far more than a request has items. */
const maxArrays = 200_000
/** Maximum number of bytes outside of arrays of numbers, such as vectors in base64. */
const maxOtherBytes = 64 * 1024 * 1024

/**
 * Reads a JSON document that arrives in pieces and consists almost entirely of arrays of numbers.
 * `JSON.parse` would block the event loop for seconds and take many times the memory. This class reads
 * the arrays piece by piece and parses only the rest. The bench scenario is `embeddings` (`stall` and
 * `memory/answer`).
 */
export class VectorScanner {
  readonly #form: NumberForm
  readonly #arrays: NumberArray[] = []
  readonly #others: Uint8Array[] = []
  #otherBytes = 0
  #numbers: NumberReader | undefined
  /** The beginning of a number that continues in the next piece. */
  #tail: Uint8Array = new Uint8Array(0)
  #state: 'value' | 'bracket' | 'string' | 'escape' = 'value'

  constructor(form: NumberForm) {
    this.#form = form
  }

  /** Throws an `UpstreamFault` as soon as the document is malformed. */
  push(piece: Uint8Array): void {
    if (this.#tail.length === 0) return this.#read(piece)
    // Joins only the split number; the rest of the piece is not copied.
    const end = piece.findIndex((byte) => !isInNumber(byte)) + 1 || piece.length
    this.#read(join(this.#tail, piece.subarray(0, end)))
    if (end < piece.length) this.#read(piece.subarray(end))
  }

  /** Returns the document after its last piece. */
  end(): ScannedJson {
    const json = tryParseJson(concat(this.#others, this.#otherBytes))
    if (json === undefined) throw malformed('the answer is not JSON')
    return { json, arrays: this.#arrays }
  }

  #read(bytes: Uint8Array): void {
    let at = 0
    while (at < bytes.length) {
      if (!this.#numbers) at = this.#scanOthers(bytes, at)
      if (!this.#numbers) break
      at = this.#numbers.read(bytes, at)
      if (bytes[at] !== closeBracket) break
      if (this.#arrays.length === maxArrays) throw malformed('the answer has too many arrays')
      this.#arrays.push(this.#numbers.take())
      this.#numbers = undefined
    }
    this.#tail = bytes.subarray(at)
  }

  /** Scans up to the next array of numbers and returns its start. */
  #scanOthers(bytes: Uint8Array, from: number): number {
    for (let at = from; at < bytes.length; at++) {
      const byte = bytes[at] as number
      switch (this.#state) {
        case 'string':
          if (byte === quote) this.#state = 'value'
          else if (byte === backslash) this.#state = 'escape'
          break
        case 'escape':
          this.#state = 'string'
          break
        case 'bracket':
          if (byte === minus || isDigit(byte)) {
            this.#keep(bytes.slice(from, at))
            this.#beginNumbers()
            return at
          }
          if (byte > space) this.#state = nextState(byte)
          break
        default:
          this.#state = nextState(byte)
      }
    }
    this.#keep(bytes.slice(from))
    return bytes.length
  }

  #beginNumbers(): void {
    this.#state = 'value'
    this.#keep(encoder.encode(String(this.#arrays.length)))
    // All vectors of a response have the same length.
    this.#numbers = new NumberReader(this.#form, this.#arrays.at(-1)?.length ?? 0)
  }

  /** Keeps a copy, because a view would keep the whole piece in memory. */
  #keep(copy: Uint8Array): void {
    this.#others.push(copy)
    this.#otherBytes += copy.length
    if (this.#otherBytes > maxOtherBytes) throw malformed('the answer is too long')
  }
}

const encoder = new TextEncoder()

function nextState(byte: number): 'value' | 'bracket' | 'string' {
  if (byte === openBracket) return 'bracket'
  return byte === quote ? 'string' : 'value'
}

function join(first: Uint8Array, second: Uint8Array): Uint8Array {
  return concat([first, second], first.length + second.length)
}

function malformed(detail: string): UpstreamFault {
  return new UpstreamFault({ kind: 'malformed', detail })
}
