import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks'
import type { Millis } from '../../../src/core/ids.ts'
import type { RuntimeReadings } from '../../../src/index.ts'

/** How often the event loop is sampled. Each delay that is measured includes it. */
const resolution: Millis = 20

/** The minimum time for which a pause is reported, so that each of several scrapers sees it. */
const minWindow: Millis = 15_000

let shared: RuntimeReadings | undefined

/** The readings of this process, which all its gateways share. The first call starts to measure. */
export function nodeRuntime(): RuntimeReadings {
  shared ??= { node: process.version, readEventLoopLag: createLagReader() }
  return shared
}

function createLagReader(): () => Millis | undefined {
  const delays = startMonitor()
  if (!delays) return () => undefined
  let before = 0
  let began = performance.now()
  return () => {
    const current = Math.max(0, delays.max / 1e6 - resolution)
    const longest = Math.max(before, current)
    const now = performance.now()
    if (now - began >= minWindow) {
      before = current
      began = now
      delays.reset()
    }
    return longest
  }
}

/** Undefined on runtimes without this measurement. */
function startMonitor(): IntervalHistogram | undefined {
  try {
    const delays = monitorEventLoopDelay({ resolution })
    delays.enable()
    return delays
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_NOT_IMPLEMENTED') return undefined
    throw error
  }
}
