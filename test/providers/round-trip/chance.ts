/** A seeded pseudo-random generator (mulberry32). */
export class Chance {
  #state: number

  constructor(seed: number) {
    this.#state = seed
  }

  /** At least 0, below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** An integer from 0. */
  below(end: number): number {
    return Math.floor(this.next() * end)
  }

  is(probability: number): boolean {
    return this.next() < probability
  }

  pick<Item>(items: readonly Item[]): Item {
    // The callers pass at least one item.
    return items[this.below(items.length)] as Item
  }

  /** From `least` to `most` items. */
  some<Item>(least: number, most: number, make: (index: number) => Item): Item[] {
    return Array.from({ length: least + this.below(most - least + 1) }, (_, index) => make(index))
  }

  shuffled<Item>(items: readonly Item[]): Item[] {
    return items
      .map((item) => ({ item, rank: this.next() }))
      .sort((a, b) => a.rank - b.rank)
      .map(({ item }) => item)
  }

  /** Splits a list at random into non-empty pieces. */
  #pieces<List extends { readonly length: number; slice(from: number, to: number): List }>(
    list: List,
    most: number,
  ): List[] {
    const places = new Set(
      this.some(0, most - 1, () => 1 + this.below(Math.max(1, list.length - 1))),
    )
    const cuts = [0, ...[...places].filter((at) => at < list.length).sort((a, b) => a - b)]
    return cuts
      .map((from, at) => list.slice(from, cuts[at + 1] ?? list.length))
      .filter(({ length }) => length > 0)
  }

  /** Splits a text into pieces of whole characters, sometimes one character each. */
  pieces(text: string, most = 4): string[] {
    if (this.is(0.05)) return [...text]
    return this.#pieces([...text], most).map((characters) => characters.join(''))
  }

  /** Splits bytes anywhere, as a network does, sometimes one byte each. */
  cuts(bytes: Uint8Array): Uint8Array[] {
    return this.is(0.03) ? this.#pieces(bytes, 3 * bytes.length) : this.#pieces(bytes, 12)
  }
}
