import type { Warn } from './warn-per-burst.ts'

export interface AddressLimitOptions {
  /** Maximum number of connections per client address; 0 means no limit. */
  readonly maxPerAddress: () => number
  readonly warn: Warn
}

/** Counts the connections of each client address and limits them. */
export class AddressLimit {
  readonly #options: AddressLimitOptions
  readonly #counts = new Map<string, number>()

  constructor(options: AddressLimitOptions) {
    this.#options = options
  }

  /** Counts a connection, which must `leave` later. Returns false, and does not count it, at the limit. */
  enter(address: string): boolean {
    const { maxPerAddress, warn } = this.#options
    const count = (this.#counts.get(address) ?? 0) + 1
    const max = maxPerAddress()
    if (max > 0 && count > max) {
      warn('connection limit of one address reached, closing the new connection', {
        address,
        maxPerAddress: max,
      })
      return false
    }
    this.#counts.set(address, count)
    return true
  }

  leave(address: string): void {
    const left = (this.#counts.get(address) ?? 0) - 1
    if (left > 0) this.#counts.set(address, left)
    else this.#counts.delete(address)
  }
}
