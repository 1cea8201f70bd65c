import type { Meters } from '../core/metrics.ts'

/** Counts nothing, for a host without metrics. */
export const noMeters: Meters = {
  counter: () => ({ inc() {} }),
  histogram: () => ({ observe() {} }),
  read() {},
}
