/** A thread of a database. */
export interface OpenThread {
  /** Whether a call runs. */
  readonly isBusy: boolean
  /** Lets no further call begin. */
  abandon(): void
  /** Resolves when no call runs, or after a short time. */
  waitUntilIdle(): Promise<void>
}

/** The threads that have not ended. A process that has opened none knows so without loading what opens one. */
export const openThreads = new Set<OpenThread>()

/**
 * Abandons every database of the process and waits up to 250 ms for running calls. Resolves to
 * false when one still runs: then `process.exit` would wait for it, and abort the process if it
 * fails.
 */
export async function abandonStores(): Promise<boolean> {
  const running = [...openThreads]
  for (const thread of running) thread.abandon()
  await Promise.all(running.map((thread) => thread.waitUntilIdle()))
  return running.every(({ isBusy }) => !isBusy)
}
