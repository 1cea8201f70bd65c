import { parentPort } from 'node:worker_threads'
import { type CountJob, countTokens } from './count.ts'

/** Counts what it is sent, one job after the other. An error ends the thread, and its owner sees it. */
parentPort?.on('message', async (job: CountJob) => {
  parentPort?.postMessage(await countTokens(job))
})
