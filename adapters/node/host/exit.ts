import { maxTimerDelay } from '../../../src/core/ids.ts'
import { abandonStores } from '../store/open-threads.ts'

/**
 * Ends the process with the exit code that `work` resolves to. Until then a timer keeps the process alive:
 * Node.js ends one that waits for unreferenced handles alone, such as an idle thread of a database, with
 * code 0 and without an answer.
 */
export async function exitAfter(work: Promise<number>): Promise<never> {
  const alive = setInterval(() => {}, maxTimerDelay)
  try {
    return await exit(await work)
  } finally {
    clearInterval(alive)
  }
}

/**
 * Ends the process after the database thread has finished its current call; ending the thread in the
 * middle of a call makes the driver abort the process. If the call takes too long, SIGKILL ends both.
 */
export async function exit(code: number): Promise<never> {
  if (!(await abandonStores())) process.kill(process.pid, 'SIGKILL')
  process.exit(code)
}
