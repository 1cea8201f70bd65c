/** A source of pseudo-random numbers that a seed repeats. */
export type Random = (limit: number) => number

/** Returns a generator of whole numbers below a limit (xorshift32). */
export function createRandom(seed: number): Random {
  let state = seed | 1
  return (limit) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % limit
  }
}

/** What inputs are made from. */
export interface Material {
  readonly corpus: readonly Uint8Array[]
  readonly words: readonly Uint8Array[]
  readonly maxBytes: number
}

/** Makes a new input of some input in the corpus, by up to 8 random changes. */
export function mutate({ corpus, words, maxBytes }: Material, random: Random): Uint8Array {
  const pick = <T>(all: readonly T[]): T => all[random(all.length)] as T
  let bytes = pick(corpus)
  for (let changes = random(8); changes >= 0; changes--) {
    const at = random(bytes.length + 1)
    const end = Math.min(bytes.length, at + 1 + random(random(4) === 0 ? 64 : 4))
    switch (random(7)) {
      case 0:
        bytes = replace(bytes, [at, end], [])
        break
      case 1:
        bytes = replace(bytes, [at, at + 1], [random(256)])
        break
      case 2:
        bytes = replace(bytes, [at, at + 1], [(bytes[at] ?? 0) ^ (1 << random(8))])
        break
      case 3:
        // Doubles a part, or moves a copy of it.
        bytes = replace(bytes, [random(bytes.length + 1), undefined], bytes.subarray(at, end))
        break
      case 4:
        bytes = replace(bytes, [at, at + random(2)], pick(words))
        break
      case 5:
        bytes = replace(bytes, [at, end], pick(words))
        break
      default: {
        // The beginning of this input and the end of another one.
        const other = pick(corpus)
        bytes = replace(bytes, [at, bytes.length], other.subarray(random(other.length + 1)))
      }
    }
  }
  return bytes.slice(0, maxBytes)
}

/** Replaces a part; without an end, inserts. */
function replace(
  bytes: Uint8Array,
  [from, to = from]: readonly [number, number | undefined],
  by: ArrayLike<number>,
): Uint8Array {
  const head = bytes.subarray(0, from)
  const tail = bytes.subarray(to)
  const changed = new Uint8Array(head.length + by.length + tail.length)
  changed.set(head)
  changed.set(by, head.length)
  changed.set(tail, head.length + by.length)
  return changed
}
