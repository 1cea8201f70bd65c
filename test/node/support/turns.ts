/**
 * The processor time of the thread that runs this, in milliseconds: what other processes take does not
 * count, nor what other threads of this one do, as far as the system says. Its text goes into another
 * process, so it takes nothing from the scope around it.
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

/** The processor time of the longest turn of the event loop while `work` goes on, in milliseconds. */
export async function longestTurnOf(work: () => Promise<unknown>): Promise<number> {
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
 * Arguments of a Node process that prints, as its last act, the longest turn that its event loop has
 * taken since the last SIGUSR2.
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

/** In milliseconds, from what such a process has printed. */
export function longestTurnIn({ stderr }: { readonly stderr: string }): number {
  return Number(/longest turn: ([\d.]+)/.exec(stderr)?.[1])
}
