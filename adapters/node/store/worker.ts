import { parentPort, workerData } from 'node:worker_threads'
import { createExecutor } from './executor.ts'
import type { ThreadMessage, ThreadSettings } from './messages.ts'

const { execute, abandon } = createExecutor(
  // What the port that starts this thread hands over.
  workerData as ThreadSettings,
  (message, fields) => parentPort?.postMessage({ kind: 'report', message, fields }),
)

/** Carries out one call after the other: the next one is sent when this one has been answered. */
parentPort?.on('message', async (message: ThreadMessage) => {
  if (message === 'abandon') return abandon()
  parentPort?.postMessage(await execute(message))
  if (message.method === 'close') parentPort?.close()
})
