import { type Priority, priorities } from '../core/room.ts'

export interface Queued {
  readonly priority: Priority
  /** The accounts of one priority have turns. */
  readonly account: string
}

/**
 * A queue in which an account waits for one item of each other account of its priority, however many these have. All of
 * a priority go before the next one; those of one account in their order.
 */
export class FairQueue<Item extends Queued> {
  /** By priority: the items of each account, in the order of their turns. */
  readonly #levels = new Map(priorities.map((each) => [each, new Map<string, Set<Item>>()]))

  add(item: Item): void {
    const accounts = this.#accountsOf(item)
    const items = accounts.get(item.account)
    if (items) items.add(item)
    else accounts.set(item.account, new Set([item]))
  }

  remove(item: Item): void {
    const accounts = this.#accountsOf(item)
    const items = accounts.get(item.account)
    if (items?.delete(item) && items.size === 0) accounts.delete(item.account)
  }

  /** Removes the first item that may go, which ends the turn of its account. */
  take(mayGo: (item: Item) => boolean): Item | undefined {
    for (const accounts of this.#levels.values()) {
      for (const [account, items] of accounts) {
        for (const item of items) {
          if (!mayGo(item)) continue
          items.delete(item)
          accounts.delete(account)
          if (items.size > 0) accounts.set(account, items)
          return item
        }
      }
    }
    return undefined
  }

  #accountsOf({ priority }: Item): Map<string, Set<Item>> {
    // The map has all priorities.
    return this.#levels.get(priority) as Map<string, Set<Item>>
  }
}
