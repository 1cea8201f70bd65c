import { abandonStores } from './ports/store.ts'

/**
 * Ends the process after the database thread has finished its current call; ending the thread in the
 * middle of a call makes the driver abort the process. If the call takes too long, SIGKILL ends both.
 */
export async function exit(code: number): Promise<never> {
  if (!(await abandonStores())) process.kill(process.pid, 'SIGKILL')
  process.exit(code)
}
