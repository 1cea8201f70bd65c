import { settled } from './manual-clock.ts'

/** True when a promise is still pending after everything else has settled. */
export async function isPending(promise: Promise<unknown>): Promise<boolean> {
  let pending = true
  const over = () => {
    pending = false
  }
  promise.then(over, over)
  await settled()
  return pending
}
