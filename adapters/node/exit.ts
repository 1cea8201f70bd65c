import { abandonStores } from './ports/store.ts'

/**
 * Ends the process without ending the thread of the database in the middle of a call: the driver
 * would abort the process. A call that still runs after a moment is cut by a signal instead.
 */
export async function exit(code: number): Promise<never> {
  if (!(await abandonStores())) process.kill(process.pid, 'SIGKILL')
  process.exit(code)
}
