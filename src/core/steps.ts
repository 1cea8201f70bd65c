/** A long computation that can be interrupted wherever it yields, about once in a millisecond. */
export type Steps<Value> = Generator<undefined, Value>

/** Runs a computation at once. */
export function runAtOnce<Value>(steps: Steps<Value>): Value {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** How many things are mapped at once: about a millisecond's work. */
const mappedAtOnce = 64

/** Maps items as `Array.map` does, and can be interrupted between them. */
export function* mapInSteps<Item, Value>(
  items: readonly Item[],
  map: (item: Item, index: number) => Value,
): Steps<Value[]> {
  if (items.length <= mappedAtOnce) return items.map(map)
  const values: Value[] = []
  for (const [index, item] of items.entries()) {
    if (index > 0 && index % mappedAtOnce === 0) yield
    values.push(map(item, index))
  }
  return values
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
