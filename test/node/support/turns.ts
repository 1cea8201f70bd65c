/**
 * Returns the processor time of the current thread, in milliseconds. It excludes other processes
 * and, where the system reports it, other threads. Its source is copied into another
 * process, so it must not use its surrounding scope.
 */
function threadTime(): number {
  if (process.platform === 'linux') {
    const { readFileSync } = process.getBuiltinModule('node:fs')
    const [nanoseconds] = readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')
    return Number(nanoseconds) / 1e6
  }
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Returns the processor time of the longest turn of the event loop during `work`, in milliseconds. */
export async function measureMaxTurn(work: () => Promise<unknown>): Promise<number> {
  let longest = 0
  let isOver = false
  let before = threadTime()
  const turn = () => {
    const now = threadTime()
    longest = Math.max(longest, now - before)
    before = now
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  await work()
  isOver = true
  await new Promise(setImmediate)
  return longest
}

/**
 * Arguments for a Node process that prints at its end the longest turn of its event loop
 * since the last SIGUSR2.
 */
export const watchingTurns: readonly string[] = [
  '--import',
  `data:text/javascript,${encodeURIComponent(`
    ${threadTime.toString()}
    let longest = 0
    let before
    process.on('SIGUSR2', () => { longest = 0 })
    process.once('exit', () => console.error('longest turn: ' + longest))
    setInterval(() => {
      const now = threadTime()
      longest = Math.max(longest, now - (before ?? now))
      before = now
    }, 1).unref()
  `)}`,
]

/** Parses the output of such a process, in milliseconds. */
export function parseMaxTurn({ stderr }: { readonly stderr: string }): number {
  return Number(/longest turn: ([\d.]+)/.exec(stderr)?.[1])
}
