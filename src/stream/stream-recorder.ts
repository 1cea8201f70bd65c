import type { Frame } from '../core/frame.ts'
import type { Bytes } from '../core/ids.ts'

/** The memory that a recording starts with. It doubles when it is full. */
const firstBytes: Bytes = 4096

export interface StreamRecorderOptions {
  /** A longer stream is not recorded. */
  readonly maxBytes: Bytes
  /** Called with each change of the memory that the recording takes. */
  readonly onResize: (change: Bytes) => void
}

/** Records what the client of one stream gets, without pings, so that it can be sent again. */
export class StreamRecorder {
  readonly #options: StreamRecorderOptions
  #bytes: Uint8Array | undefined = new Uint8Array(0)
  #length = 0
  #isComplete = false

  constructor(options: StreamRecorderOptions) {
    this.#options = options
  }

  /** Adds what was written for a frame. */
  add({ kind }: Pick<Frame, 'kind'>, written: Uint8Array): void {
    if (kind === 'ping' || !this.#bytes) return
    const length = this.#length + written.length
    if (length > this.#bytes.length) this.#grow(length)
    this.#bytes?.set(written, this.#length)
    this.#length = length
    if (kind === 'done') this.#isComplete = true
  }

  /** Returns the whole stream; undefined when it is too long or has not been written to its end. */
  get whole(): Uint8Array | undefined {
    return this.#isComplete ? this.#bytes?.subarray(0, this.#length) : undefined
  }

  /** Makes room for `length` bytes, or gives the recording up. */
  #grow(length: Bytes): void {
    const { maxBytes, onResize } = this.#options
    const before = this.#bytes ?? new Uint8Array(0)
    if (length > maxBytes) {
      this.#bytes = undefined
      onResize(-before.length)
      return
    }
    const size = Math.min(Math.max(firstBytes, 2 * before.length, length), maxBytes)
    this.#bytes = new Uint8Array(size)
    this.#bytes.set(before.subarray(0, this.#length))
    onResize(size - before.length)
  }
}
