import type { Frame } from '../../core/frame.ts'
import type { ChunkWriter } from '../../stream/chunk-writer.ts'
import type { JsonObject } from '../../wire/json/parse.ts'
import { ThinkingRuns } from './thinking-blocks.ts'

/** Writes the thinking blocks of a streamed answer: each by itself as it ends, and each run as one list. */
export class ThinkingWriter {
  readonly #runs = new ThinkingRuns()
  readonly #getChunks: () => ChunkWriter

  /** `getChunks` is called when there is a block to write, not before. */
  constructor(getChunks: () => ChunkWriter) {
    this.#getChunks = getChunks
  }

  /** Adds a piece of the block at `index`: texts are appended, other members replaced. */
  add(index: number, piece: JsonObject): void {
    this.#runs.add(index, piece)
  }

  /** Writes the blocks that have ended, each by itself. */
  takeEnded(): Frame[] {
    return this.#runs.takeEnded().map((block) => this.#getChunks().thinkingBlock(block))
  }

  /** Writes the run of blocks that a block of another type ends, or the end of the answer. */
  flush(): Frame[] {
    this.#runs.end()
    const ended = this.takeEnded()
    const run = this.#runs.interrupt()
    return run.length === 0 ? [] : [...ended, this.#getChunks().thinking(run)]
  }
}
