/**
 * Returns a source of numbers from 0 up to 1 for waits of random length. Prints its seed, which
 * `TEST_SEED` repeats.
 */
export function seededRandom(): () => number {
  const seed = Number(process.env['TEST_SEED'] ?? Date.now()) >>> 0
  console.log(`random waits: TEST_SEED=${seed}`)
  return randomFrom(seed)
}

/** Returns the numbers from 0 up to 1 that belong to a seed. */
export function randomFrom(seed: number): () => number {
  let state = seed
  // mulberry32, a small generator with 32 bits of state.
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
