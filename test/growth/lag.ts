import { readFileSync } from 'node:fs'

/** The most processor time, in milliseconds, that one piece of work may hold the event loop. */
export const maxPiece = 100

/**
 * Does some work, and returns the processor time of its longest piece in milliseconds: how long other requests
 * would have waited on a processor of their own. A piece ends where the event loop may run other work.
 */
export async function measureLongestPiece(work: () => Promise<unknown>): Promise<number> {
  let longest = 0
  let isOver = false
  let last = readThreadTime()
  const look = () => {
    const now = readThreadTime()
    longest = Math.max(longest, now - last)
    last = now
    if (!isOver) setImmediate(look)
  }
  setImmediate(look)
  await work()
  isOver = true
  await new Promise((resolve) => setImmediate(resolve))
  return longest
}

/**
 * Returns the processor time of the main thread in milliseconds: neither other programs nor the threads that
 * collect garbage add to it. Elsewhere than on Linux, that of the process.
 */
function readThreadTime(): number {
  if (process.platform === 'linux') {
    const [nanoseconds] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'latin1').split(
      ' ',
    )
    return Number(nanoseconds) / 1e6
  }
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
