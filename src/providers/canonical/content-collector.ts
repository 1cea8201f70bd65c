import { maxBlocks, maxContentLength } from './provider-content.ts'

/**
 * Collects the vendor's blocks of a streamed answer for `provider_content`, as long as they can be carried: a
 * longer answer, or one with too many blocks or a block that is newer than this code, drops them all and takes no
 * more.
 */
export class ContentCollector<Block> {
  readonly #blocks: Block[] = []
  #length = 0
  #isLost = false

  /** The blocks cannot be carried. */
  get isLost(): boolean {
    return this.#isLost
  }

  /** The blocks in their order; undefined when they cannot be carried. */
  get blocks(): readonly Block[] | undefined {
    return this.#isLost ? undefined : this.#blocks
  }

  /** Adds a block, unless the blocks are lost. */
  push(block: Block): void {
    if (!this.#isLost && this.#blocks.push(block) > maxBlocks) this.lose()
  }

  /** Counts what a block has grown by, in characters of JSON. */
  count(length: number): void {
    this.#length += length
    if (this.#length > maxContentLength) this.lose()
  }

  /** Drops the blocks: they cannot be carried. */
  lose(): void {
    this.#isLost = true
    this.#blocks.length = 0
  }
}
