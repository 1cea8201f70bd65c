import type { Frame } from '../core/frame.ts'
import type { Millis } from '../core/ids.ts'
import type { Clock, Timer } from '../core/ports.ts'
import type { StageController, Transformer } from '../core/streams.ts'
import { noBytes } from './chunk-writer.ts'

const ping: Frame = Object.freeze({ bytes: noBytes, kind: 'ping', outputBytes: 0 })

/**
 * Passes frames on, and sends a ping whenever no bytes have been sent for `interval`. A client that
 * does not read gets no pings, because they would accumulate. One timer serves all frames.
 */
export class Heartbeat implements Transformer<Frame[], Frame[]> {
  readonly #clock: Clock
  readonly #interval: Millis
  #lastWrite: Millis
  #timer: Timer | undefined

  /** An `interval` of 0 turns pings off. */
  constructor(clock: Clock, interval: Millis) {
    this.#clock = clock
    this.#interval = interval
    this.#lastWrite = clock.elapsed()
  }

  start(out: StageController<Frame[]>): void {
    if (this.#interval > 0) this.#arm(this.#interval, out)
  }

  transform(frames: Frame[], out: StageController<Frame[]>): void {
    if (frames.some(({ bytes }) => bytes.length > 0)) this.#lastWrite = this.#clock.elapsed()
    out.enqueue(frames)
  }

  flush(): void {
    this.stop()
  }

  /** Stops the timer. */
  stop(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #arm(delay: Millis, out: StageController<Frame[]>): void {
    this.#timer = this.#clock.schedule(delay, () => {
      const now = this.#clock.elapsed()
      if (now - this.#lastWrite >= this.#interval) {
        this.#lastWrite = now
        if ((out.desiredSize ?? 0) > 0) out.enqueue([ping])
      }
      this.#arm(this.#lastWrite + this.#interval - now, out)
    })
  }
}
