import { parentPort, workerData } from 'node:worker_threads'
import { createExecutor } from './executor.ts'
import type { ThreadMessage, ThreadSettings } from './messages.ts'

const { execute, abandon } = createExecutor(
  // The port that starts this thread sets it.
  workerData as ThreadSettings,
  (...report) => parentPort?.postMessage({ kind: 'report', report }),
)

/** Runs one call at a time: the port sends the next one after the result of this one. */
parentPort?.on('message', async (message: ThreadMessage) => {
  if (message === 'abandon') return abandon()
  parentPort?.postMessage(await execute(message))
  if (message.method === 'close') parentPort?.close()
})
