/** A request to acquire the semaphore. */
export interface AcquireRequest {
  /** Number of bytes, for the condition of the semaphore. */
  readonly bytes: number
  /** Called when the semaphore is acquired. */
  readonly onAcquire: () => void
  /** True once the request is cancelled, so that it no longer needs the semaphore. */
  readonly isCancelled: () => boolean
}

/** A semaphore with its own condition that admits requests in the order of their arrival. */
export class FifoSemaphore {
  readonly #canAcquire: (holders: number, bytes: number) => boolean
  readonly #waiting: (AcquireRequest & { readonly wake: () => void })[] = []
  #holders = 0

  /** `canAcquire` decides by the current number of holders and the bytes of the request. */
  constructor(canAcquire: (holders: number, bytes: number) => boolean) {
    this.#canAcquire = canAcquire
  }

  /** Returns undefined if acquired at once, else a promise for the acquisition or cancellation. */
  acquire(request: AcquireRequest): Promise<void> | undefined {
    if (this.#waiting.length === 0 && this.#canAcquire(this.#holders, request.bytes)) {
      this.#holders++
      request.onAcquire()
      return undefined
    }
    return new Promise((wake) => {
      this.#waiting.push({ ...request, wake })
    })
  }

  release(): void {
    this.#holders--
    this.admitWaiting()
  }

  /** Admits waiting requests in order. Call this when the condition may have changed. */
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
