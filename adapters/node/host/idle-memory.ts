import type { Bytes, Millis } from '../../../src/core/ids.ts'
import type { Clock } from '../../../src/index.ts'
import { systemClock } from '../process/system.ts'
import type { Serving } from './serve.ts'

/** How long the process must have been idle, in milliseconds. */
const idleTime = 20_000
/** The share of a core that an idle process may use, for example for health checks. */
const idleShare = 0.02
/** How much the process must have grown since it was smallest, or since the last collection. */
const minGrowth: Bytes = 32 * 1024 * 1024

export interface IdleMemoryOptions {
  readonly serving: Pick<Serving, 'running'>
  readonly clock?: Clock | undefined
  /** Returns the resident memory of the process. */
  readonly readResident?: () => Bytes
  /** Returns the processor time of the process so far. */
  readonly readProcessorTime?: () => Millis
  readonly collect?: () => Promise<void>
}

/**
 * Gives back the memory that requests needed, after 20 to 40 idle seconds. V8 collects when new objects need space,
 * so an idle process would keep it. A collection stops the process for about 50 ms, and new objects have little
 * space until traffic has made it larger again: there is at most one for each 32 MB of growth. Runs until `close`,
 * or until a collection fails because this Node has no inspector or its permissions deny one.
 */
export function releaseIdleMemory(options: IdleMemoryOptions): { close(): void } {
  const { serving, clock = systemClock, collect = collectGarbage } = options
  const { readResident = process.memoryUsage.rss, readProcessorTime = processorTime } = options
  let smallest = readResident()
  let used = readProcessorTime()
  let isClosed = false
  let timer = clock.schedule(idleTime, check)

  async function check() {
    const before = used
    used = readProcessorTime()
    const isIdle = serving.running === 0 && used - before <= idleShare * idleTime
    if (isIdle) await release().catch(close)
    if (!isClosed) timer = clock.schedule(idleTime, check)
  }

  async function release() {
    const resident = readResident()
    smallest = Math.min(smallest, resident)
    if (resident - smallest < minGrowth) return
    await collect()
    smallest = readResident()
  }

  function close() {
    isClosed = true
    timer.cancel()
  }

  return { close }
}

function processorTime(): Millis {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

/** Collects all garbage, as the developer tools do: it needs no option of Node, and opens no port. */
export async function collectGarbage(): Promise<void> {
  const { Session } = await import('node:inspector/promises')
  const session = new Session()
  session.connect()
  await session.post('HeapProfiler.collectGarbage')
  // The session is still in use while it answers.
  await new Promise((resolve) => setImmediate(resolve))
  session.disconnect()
}
