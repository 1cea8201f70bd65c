import type { Millis } from '../core/ids.ts'

/** Four buckets for each doubling, from 1 ms to 17 minutes: a quantile is off by 9 % at most. */
const bucketsPerDoubling = 4
const bucketCount = 20 * bucketsPerDoubling

/** Counts latencies in buckets of logarithmic width, to answer quantiles in constant memory. */
export class LatencyHistogram {
  readonly #counts = new Uint32Array(bucketCount)
  #total = 0

  add(latency: Millis): void {
    const bucket = Math.floor(Math.log2(Math.max(1, latency)) * bucketsPerDoubling)
    const at = Math.min(bucket, bucketCount - 1)
    this.#counts[at] = (this.#counts[at] ?? 0) + 1
    this.#total++
  }

  /** The latency that this fraction of all stays below, in whole milliseconds; undefined without any. */
  quantile(fraction: number): Millis | undefined {
    if (this.#total === 0) return undefined
    const rank = Math.ceil(this.#total * fraction)
    let seen = 0
    const bucket = this.#counts.findIndex((count) => (seen += count) >= rank)
    return Math.round(2 ** ((bucket + 0.5) / bucketsPerDoubling))
  }
}
