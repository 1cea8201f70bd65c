/**
 * What is running now. A `Set` would do but for memory: the tables that it outgrows, one in a few
 * dozen additions, hold on to what was in them, and through each other to what came after, until the
 * next full collection.
 */
export class InFlightSet<Item> {
  readonly #places: (Item | undefined)[] = []
  readonly #free: number[] = []

  get size(): number {
    return this.#places.length - this.#free.length
  }

  /** Returns the way to take the item out again, to be used once. */
  add(item: Item): () => void {
    const place = this.#free.pop() ?? this.#places.length
    this.#places[place] = item
    return () => {
      this.#places[place] = undefined
      this.#free.push(place)
    }
  }

  /** All items of the moment; they may leave meanwhile. */
  all(): Item[] {
    return this.#places.filter((item) => item !== undefined)
  }
}
