/** How much larger the second input is. Linear work takes as much more time, quadratic work the square. */
export const growth = 8

/** The most that the time may grow: twice as much as linear work, for the collection of garbage. */
export const maxGrowth: number = 2 * growth

/** An attempt may be disturbed by the collection of garbage, or by the compiler. */
const maxAttempts = 5

/**
 * Returns how much more processor time `growth` times as many things take: the least of several attempts, or
 * the first that is as good as linear.
 */
export async function measureGrowth(
  count: number,
  run: (count: number) => Promise<() => Promise<unknown>>,
): Promise<number> {
  await (await run(count))()
  let least = Number.POSITIVE_INFINITY
  for (let attempt = 0; attempt < maxAttempts && least > maxGrowth; attempt++) {
    const small = await measureProcessorTime(await run(count))
    const large = await measureProcessorTime(await run(count * growth))
    least = Math.min(least, large / small)
  }
  return least
}

/** Returns the processor time of the process, in milliseconds: other programs do not add to it. */
export async function measureProcessorTime(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
