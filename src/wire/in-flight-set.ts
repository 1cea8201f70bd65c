/**
 * What is running now. A `Set` would do but for memory: the tables that it outgrows, one in a few
 * dozen additions, hold on to what was in them, and through each other to what came after, until the
 * next full collection.
 */
export class InFlightSet<Item> {
  readonly #slots: (Item | undefined)[] = []
  readonly #free: number[] = []

  get size(): number {
    return this.#slots.length - this.#free.length
  }

  /** Returns the way to take the item out again, to be used once. */
  add(item: Item): () => void {
    const place = this.#free.pop() ?? this.#slots.length
    this.#slots[place] = item
    return () => {
      this.#slots[place] = undefined
      this.#free.push(place)
    }
  }

  /** All items of the moment; they may leave meanwhile. */
  all(): Item[] {
    return this.#slots.filter((item) => item !== undefined)
  }
}
