/** A long computation that can be interrupted wherever it yields, about once in a millisecond. */
export type Steps<Value> = Generator<undefined, Value>

/** Runs a computation at once. */
export function runAtOnce<Value>(steps: Steps<Value>): Value {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** Runs a computation, and awaits `pause` wherever it can be interrupted. */
export async function runInSteps<Value>(
  steps: Steps<Value>,
  pause: () => Promise<void>,
): Promise<Value> {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
    await pause()
  }
}
