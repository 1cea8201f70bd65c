export interface RecentMapOptions<Value> {
  /** The maximum number of entries. */
  readonly max: number
  /** True for a value that a new one equals: it is dropped before others. */
  readonly isIdle?: (value: Value) => boolean
}

/** How many of the oldest entries are looked at for one that is idle. */
const maxLooks = 16

/** A map of bounded size that drops what was not used for longest. */
export class RecentMap<Key, Value> {
  readonly #options: RecentMapOptions<Value>
  /** The ones that were not used for longest first. */
  readonly #entries = new Map<Key, Value>()

  constructor(options: RecentMapOptions<Value>) {
    this.#options = options
  }

  /** Returns a value, which counts as a use of it. */
  get(key: Key): Value | undefined {
    const value = this.#entries.get(key)
    if (value === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, value)
    return value
  }

  set(key: Key, value: Value): void {
    this.#entries.delete(key)
    if (this.#entries.size >= this.#options.max) this.#dropOne()
    this.#entries.set(key, value)
  }

  delete(key: Key): void {
    this.#entries.delete(key)
  }

  get size(): number {
    return this.#entries.size
  }

  /** The entries, in the order of their last use. */
  [Symbol.iterator](): IterableIterator<[Key, Value]> {
    return this.#entries[Symbol.iterator]()
  }

  #dropOne(): void {
    const { isIdle = () => true } = this.#options
    let looks = 0
    let dropped: { readonly key: Key } | undefined
    for (const [key, value] of this.#entries) {
      dropped ??= { key }
      if (isIdle(value)) {
        dropped = { key }
        break
      }
      if (++looks === maxLooks) break
    }
    if (dropped) this.#entries.delete(dropped.key)
  }
}
