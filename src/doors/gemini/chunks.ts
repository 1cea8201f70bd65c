import type { AnswerShape } from './address.ts'

/**
 * Frames the chunks of one stream: as server-sent events, or as the items of one JSON array. No comment and no
 * `event:` line is written, because most clients parse every line as JSON.
 */
export class ChunkFraming {
  readonly #isArray: boolean
  #hasStarted = false

  constructor(shape: AnswerShape) {
    this.#isArray = shape === 'array'
  }

  /** Frames the JSON text of a chunk. */
  frame(json: string): string {
    const line = json.replace(otherLineEnds, escape)
    if (!this.#isArray) return `data: ${line}\n\n`
    const start = this.#hasStarted ? ',\r\n' : '['
    this.#hasStarted = true
    return start + line
  }

  /** A sign of life: an empty event is the only one that every client takes, and white space between items. */
  get ping(): string {
    return this.#isArray ? '\n' : '\n\n'
  }

  /** The end of a complete stream. Behind the bracket no byte may follow. */
  get end(): string {
    if (!this.#isArray) return ''
    return this.#hasStarted ? '\n]' : '[]'
  }
}

/** Characters that Python takes for line ends. In JSON they stand only inside of texts. */
const otherLineEnds = /[\u0085\u2028\u2029]/g

function escape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
