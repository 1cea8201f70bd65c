/**
 * A set of running items that does not retain removed ones. A `Set` replaces its table every few dozen
 * additions; the old tables keep removed items, and through each other later ones, alive until the next
 * full garbage collection.
 */
export class InFlightSet<Item> {
  readonly #slots: (Item | undefined)[] = []
  readonly #free: number[] = []

  get size(): number {
    return this.#slots.length - this.#free.length
  }

  /** Adds an item. Returns the function that removes it, to be called once. */
  add(item: Item): () => void {
    const slot = this.#free.pop() ?? this.#slots.length
    this.#slots[slot] = item
    return () => {
      this.#slots[slot] = undefined
      this.#free.push(slot)
    }
  }

  /** Returns a snapshot of all items. */
  all(): Item[] {
    return this.#slots.filter((item) => item !== undefined)
  }
}
