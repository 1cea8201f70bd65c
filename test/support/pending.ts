import { settled } from './manual-clock.ts'

/** True when a promise has not come to anything although everything that could happen has happened. */
export async function isPending(promise: Promise<unknown>): Promise<boolean> {
  let pending = true
  const over = () => {
    pending = false
  }
  promise.then(over, over)
  await settled()
  return pending
}
