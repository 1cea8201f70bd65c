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
    if (!this.#isArray) return `data: ${json}\n\n`
    const start = this.#hasStarted ? ',\r\n' : '['
    this.#hasStarted = true
    return start + json
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
