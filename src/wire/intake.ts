import type { Buffers, Share } from './buffers.ts'
import { Room } from './room.ts'

/** A longer body is large: a few of them are read and held at once, and one is parsed at a time. */
export const largeBody = 1024 * 1024

/**
 * Lets the bodies of requests in. A small one waits while the buffers have no room for it, a large one
 * also while too many others are inside; what waits is not read. The only one of its size is let in
 * whatever the buffers hold, or it might wait for ever.
 */
export class Intake {
  readonly buffers: Buffers
  readonly small: Room
  readonly large: Room
  readonly parser: Room = new Room((inside) => inside === 0)

  /** `mostLarge`: how many large bodies may be inside. It may change at any time. */
  constructor(buffers: Buffers, mostLarge: () => number) {
    this.buffers = buffers
    const fits = (inside: number, bytes: number) => inside === 0 || buffers.hasRoomFor(bytes)
    this.small = new Room(fits)
    this.large = new Room((inside, bytes) => inside < mostLarge() && fits(inside, bytes))
    buffers.onFreed(() => this.advance())
  }

  /** To be called when the limits have changed. */
  advance(): void {
    this.small.advance()
    this.large.advance()
  }

  /** A place for the body of one request. */
  open(share: Share): Place {
    return new Place(this, share)
  }
}

/** The place of one body, from before it is read until its bytes are not needed any more. */
export class Place {
  readonly #intake: Intake
  readonly #share: Share
  #bytes = 0
  #room: Room | undefined
  #parses = false
  #ended = false

  constructor(intake: Intake, share: Share) {
    this.#intake = intake
    this.#share = share
  }

  get isLarge(): boolean {
    return this.#room === this.#intake.large
  }

  /**
   * Asks for room for so many bytes in all, which may be more than before. Undefined when there is,
   * else a promise that resolves when there is, or when the place has ended.
   */
  enter(bytes: number): Promise<void> | undefined {
    const { small, large } = this.#intake
    const room = bytes > largeBody ? large : small
    return room.enter({
      bytes: bytes - this.#bytes,
      enter: () => {
        const before = this.#room
        this.#room = room
        this.#hold(bytes)
        before?.leave()
      },
      isGone: () => this.#ended,
    })
  }

  /** The body is there, and no longer than this: the rest of its room is given back. */
  arrived(bytes: number): void {
    if (!this.#ended) this.#hold(bytes)
  }

  /** Undefined when the body may be parsed, else a promise that resolves when it may. */
  parse(): Promise<void> | undefined {
    if (!this.isLarge) return undefined
    const enter = () => {
      this.#parses = true
    }
    return this.#intake.parser.enter({ bytes: 0, enter, isGone: () => this.#ended })
  }

  /** What it has been parsed into is not needed any more. */
  parsed(): void {
    if (!this.#parses) return
    this.#parses = false
    this.#intake.parser.leave()
  }

  /** Gives everything back. Only the first call counts. */
  end(): void {
    if (this.#ended) return
    this.#ended = true
    this.parsed()
    this.#hold(0)
    this.#room?.leave()
    this.#room = undefined
    // It may have been the one that the others waited behind.
    this.#intake.advance()
  }

  #hold(bytes: number): void {
    const change = bytes - this.#bytes
    this.#bytes = bytes
    this.#share.addBody(change)
  }
}
