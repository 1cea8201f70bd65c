import type { Millis } from '../core/ids.ts'

/** Four buckets for each doubling, from 1 ms to 17 minutes: a quantile is off by 9 % at most. */
const bucketsPerDoubling = 4
const bucketCount = 20 * bucketsPerDoubling

/** Counts of latencies in buckets of logarithmic width, which answer quantiles in constant memory. */
export type LatencyCounts = Uint32Array

export function createLatencyCounts(): LatencyCounts {
  return new Uint32Array(bucketCount)
}

export function addLatency(counts: LatencyCounts, latency: Millis): void {
  const bucket = Math.floor(Math.log2(Math.max(1, latency)) * bucketsPerDoubling)
  const at = Math.min(bucket, bucketCount - 1)
  counts[at] = (counts[at] ?? 0) + 1
}

/** Returns the counts of both. */
export function joinLatencyCounts(a: LatencyCounts, b: LatencyCounts): LatencyCounts {
  return a.map((count, at) => count + (b[at] ?? 0))
}

/** The latency that this fraction of all stays below, in whole milliseconds; undefined without any. */
export function findQuantile(counts: LatencyCounts, fraction: number): Millis | undefined {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return undefined
  const rank = Math.ceil(total * fraction)
  let seen = 0
  const bucket = counts.findIndex((count) => (seen += count) >= rank)
  return Math.round(2 ** ((bucket + 0.5) / bucketsPerDoubling))
}
