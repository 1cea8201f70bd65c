export interface AcquireRequest {
  readonly bytes: number
  /** Called when it comes in. */
  readonly onAcquire: () => void
  /** It has been called off: nobody waits for it any more. */
  readonly isCancelled: () => boolean
}

/** A room with conditions of its own, which lets its guests in as they have come. */
export class FifoSemaphore {
  readonly #canAcquire: (inside: number, bytes: number) => boolean
  readonly #waiting: (AcquireRequest & { readonly wake: () => void })[] = []
  #holders = 0

  /** `admits`: whether one of so many bytes may come in where so many are inside. */
  constructor(admits: (inside: number, bytes: number) => boolean) {
    this.#canAcquire = admits
  }

  /** Undefined when the guest comes in at once; else resolves when it has come in, or is gone. */
  acquire(guest: AcquireRequest): Promise<void> | undefined {
    if (this.#waiting.length === 0 && this.#canAcquire(this.#holders, guest.bytes)) {
      this.#holders++
      guest.onAcquire()
      return undefined
    }
    return new Promise((wake) => {
      this.#waiting.push({ ...guest, wake })
    })
  }

  release(): void {
    this.#holders--
    this.admitWaiting()
  }

  /** To be called when the conditions may have changed. */
  admitWaiting(): void {
    for (let next = this.#waiting[0]; next; next = this.#waiting[0]) {
      const isGone = next.isCancelled()
      if (!isGone && !this.#canAcquire(this.#holders, next.bytes)) return
      this.#waiting.shift()
      if (!isGone) {
        this.#holders++
        next.onAcquire()
      }
      next.wake()
    }
  }
}
