import { parentPort, workerData } from 'node:worker_threads'
import { answers } from './answers.ts'
import type { StoreCall, ThreadSettings } from './messages.ts'

const answer = answers(
  // What the port that starts this thread hands over.
  workerData as ThreadSettings,
  (message, fields) => parentPort?.postMessage({ kind: 'report', message, fields }),
)

/** Carries out one call after the other: the next one is sent when this one has been answered. */
parentPort?.on('message', async (call: StoreCall) => {
  parentPort?.postMessage(await answer(call))
  if (call.method === 'close') parentPort?.close()
})
