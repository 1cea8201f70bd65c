import type { Meters } from '../core/metrics.ts'

/** Discards everything, for a host without metrics. */
export const noMeters: Meters = { read() {} }
