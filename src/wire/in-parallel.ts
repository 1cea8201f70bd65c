/** Does all of the work, so many pieces of it at a time, begun in order. */
export async function runInParallel<T>(
  items: readonly T[],
  concurrency: number,
  work: (item: T, index: number) => Promise<void>,
): Promise<void> {
  const entries = items.entries()
  const worker = async () => {
    // All workers take from the one iterator.
    for (const [index, item] of entries) await work(item, index)
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, worker))
}
