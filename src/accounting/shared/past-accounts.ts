import type { Millis, UnixSeconds } from '../../core/ids.ts'
import type { AccountEntry } from '../account-entry.ts'
import type { SharedFunctions } from './functions.ts'
import { nameAccount } from './hold.ts'
import type { SubjectName } from './values.ts'

export interface PastAccountOptions {
  readonly functions: Pick<SharedFunctions, 'expire'>
  readonly clock: { now(): Millis }
  readonly find: (name: SubjectName) => AccountEntry | undefined
}

/** Accounts that are past are kept by the hour of their end. */
const hour: UnixSeconds = 3_600

/** The hour of what was deleted: it is over. */
const over = 0

/** Names per call, and calls at a time, so that the server is not held up. */
const maxPerCall = 100
const maxCalls = 10

/**
 * Lets the server forget keys and groups that were deleted, and keys that have expired: some time later, because
 * requests of theirs may still end. Should one be used again, the server gets it from the database.
 */
export class PastAccounts {
  readonly #options: PastAccountOptions
  /** Those that the server is to forget, by the hour of their end. */
  readonly #due = new Map<number, Set<AccountEntry>>()
  /** The hour of each account that has an end, whether the server knows of it or not. */
  readonly #hours = new WeakMap<AccountEntry, number>()

  constructor(options: PastAccountOptions) {
    this.#options = options
  }

  /** Follows the record of an account. */
  note(account: AccountEntry): void {
    const end = findHour(account)
    const before = this.#hours.get(account)
    if (end === before) return
    if (before !== undefined) this.#drop(before, account)
    if (end === undefined) this.#hours.delete(account)
    else this.#add(end, account)
  }

  /** Notes that the server gets shares of these subjects again. */
  noteSent(names: Iterable<SubjectName>): void {
    const { find } = this.#options
    for (const name of names) {
      const account = find(name)
      const end = account && this.#hours.get(account)
      if (account && end !== undefined) this.#add(end, account)
    }
  }

  /** Sends the server some of those that are past. Rejects when it cannot be used. */
  async send(): Promise<void> {
    const now = this.#options.clock.now() / 1_000 / hour
    let calls = 0
    for (const [end, accounts] of this.#due) {
      if (end > now) continue
      while (accounts.size > 0) {
        if (++calls > maxCalls) return
        const page = [...take(accounts, maxPerCall)]
        await this.#options.functions.expire(page.map(nameAccount))
        // One may be of another hour by now.
        for (const account of page) this.#drop(end, account)
      }
    }
  }

  #add(end: number, account: AccountEntry): void {
    this.#hours.set(account, end)
    const accounts = this.#due.get(end)
    if (accounts) accounts.add(account)
    else this.#due.set(end, new Set([account]))
  }

  #drop(end: number, account: AccountEntry): void {
    const accounts = this.#due.get(end)
    accounts?.delete(account)
    if (accounts?.size === 0) this.#due.delete(end)
  }
}

/** True for an account that no request uses any more. */
export function isPast(account: AccountEntry, now: Millis): boolean {
  const end = findHour(account)
  return end !== undefined && end <= now / 1_000 / hour
}

/** Returns the first full hour in which an account is past; undefined when it has no end. */
function findHour({ record }: AccountEntry): number | undefined {
  if (record.deletedAt !== null) return over
  const { expiresAt = null } = 'expiresAt' in record ? record : {}
  return expiresAt === null ? undefined : Math.ceil(expiresAt / hour)
}

function* take<Item>(items: Iterable<Item>, max: number): Iterable<Item> {
  let left = max
  for (const item of items) {
    if (left-- === 0) return
    yield item
  }
}
