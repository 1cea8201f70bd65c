import { parentPort } from 'node:worker_threads'
import { type CountJob, countTokens } from './count.ts'

/** Runs count jobs one by one. An error ends the thread, and the owner gets the `exit` event. */
parentPort?.on('message', async (job: CountJob) => {
  parentPort?.postMessage(await countTokens(job))
})
