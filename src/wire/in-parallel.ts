/** Runs `work` for every item, at most `concurrency` at a time, started in order. */
export async function runInParallel<T>(
  items: readonly T[],
  concurrency: number,
  work: (item: T, index: number) => Promise<void>,
): Promise<void> {
  const entries = items.entries()
  const worker = async () => {
    // All workers share one iterator.
    for (const [index, item] of entries) await work(item, index)
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, worker))
}
