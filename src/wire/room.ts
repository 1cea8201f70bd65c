export interface Guest {
  readonly bytes: number
  /** Called when it comes in. */
  readonly enter: () => void
  /** It has been called off: nobody waits for it any more. */
  readonly isGone: () => boolean
}

/** A room with conditions of its own, which lets its guests in as they have come. */
export class Room {
  readonly #admits: (inside: number, bytes: number) => boolean
  readonly #waiting: (Guest & { readonly wake: () => void })[] = []
  #inside = 0

  /** `admits`: whether one of so many bytes may come in where so many are inside. */
  constructor(admits: (inside: number, bytes: number) => boolean) {
    this.#admits = admits
  }

  /** Undefined when the guest comes in at once; else resolves when it has come in, or is gone. */
  enter(guest: Guest): Promise<void> | undefined {
    if (this.#waiting.length === 0 && this.#admits(this.#inside, guest.bytes)) {
      this.#inside++
      guest.enter()
      return undefined
    }
    return new Promise((wake) => {
      this.#waiting.push({ ...guest, wake })
    })
  }

  leave(): void {
    this.#inside--
    this.advance()
  }

  /** To be called when the conditions may have changed. */
  advance(): void {
    for (let next = this.#waiting[0]; next; next = this.#waiting[0]) {
      const isGone = next.isGone()
      if (!isGone && !this.#admits(this.#inside, next.bytes)) return
      this.#waiting.shift()
      if (!isGone) {
        this.#inside++
        next.enter()
      }
      next.wake()
    }
  }
}
