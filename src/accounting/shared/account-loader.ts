import type { Millis } from '../../core/ids.ts'
import type { Store, SubjectSpend } from '../../store/index.ts'
import type { AccountEntry } from '../account-entry.ts'
import type { SharedFunctions } from './functions.ts'
import { nameAccount } from './hold.ts'
import { isPast } from './past-accounts.ts'
import { amountIn } from './process-charges.ts'
import { seedFields, type WrittenSeed, writeList } from './records.ts'
import { type SubjectName, writeAmount, writeOptional, writeShare } from './values.ts'

export interface AccountLoaderOptions {
  readonly functions: Pick<SharedFunctions, 'seed'>
  readonly store: Pick<Store, 'readSpend'>
  readonly clock: { now(): Millis }
  readonly find: (name: SubjectName) => AccountEntry | undefined
  /** Saves what processes that have ended have left. */
  readonly recover: Recover
}

/**
 * Saves what processes that have ended have left. Resolves to those that have, among the processes that the
 * database knows and some others.
 */
export type Recover = (others?: readonly string[]) => Promise<readonly string[]>

/** Loads subjects that the server does not know from the database into it, each once at a time. */
export class AccountLoader {
  readonly #options: AccountLoaderOptions
  readonly #running = new Map<SubjectName, Promise<void>>()
  #epoch = ''
  #recovery: Promise<unknown> = Promise.resolve()

  constructor(options: AccountLoaderOptions) {
    this.#options = options
  }

  /** Loads subjects in this life of the server's data. */
  async load(epoch: string, names: readonly SubjectName[]): Promise<void> {
    await this.#recover(epoch)
    const missing = names.filter((name) => !this.#running.has(name))
    if (missing.length > 0) {
      const seeding = this.#seed(epoch, missing).finally(() => {
        for (const name of missing) this.#running.delete(name)
      })
      for (const name of missing) this.#running.set(name, seeding)
    }
    await Promise.all(names.map((name) => this.#running.get(name)))
  }

  /**
   * Completes the database, once in an epoch: a process that has ended before it could tell the server what
   * it has charged may have left that in its journal.
   */
  #recover(epoch: string): Promise<unknown> {
    if (epoch !== this.#epoch) {
      this.#epoch = epoch
      this.#recovery = this.#options.recover()
      this.#recovery.catch(() => {
        this.#epoch = ''
      })
    }
    return this.#recovery
  }

  async #seed(epoch: string, names: readonly SubjectName[]): Promise<void> {
    const { functions, store, clock, find } = this.#options
    const entries = new Map(
      names.flatMap((name) => {
        const entry = find(name)
        return entry ? [[entry.record.id as string, entry] as const] : []
      }),
    )
    const spends = await store.readSpend([...entries.keys()])
    const subjects = spends.flatMap((spend) => {
      const entry = entries.get(spend.id)
      return entry ? [writeSeed(entry, spend, clock.now())] : []
    })
    if (subjects.length > 0) await functions.seed(epoch, subjects)
  }
}

/**
 * Writes the saved spend as the part from before, which never changes, and the shares of the processes. So
 * it does not matter which of them the database or the server knows better.
 */
function writeSeed(entry: AccountEntry, spend: SubjectSpend, now: Millis): WrittenSeed {
  const { budgetSpent, spentTotal, term, shares } = spend
  const { budgetMax, budgetPeriod } = entry.record
  const sharedSpent = shares.reduce((sum, share) => sum + amountIn(share, term), 0n)
  const sharedTotal = shares.reduce((sum, { total }) => sum + total, 0n)
  return writeList(seedFields, {
    name: nameAccount(entry),
    period: budgetPeriod ?? '',
    since: term.since,
    resets: writeOptional(term.resetsAt),
    spent: writeAmount(budgetSpent - sharedSpent),
    total: writeAmount(spentTotal - sharedTotal),
    cap: budgetMax === null ? [] : writeAmount(budgetMax),
    shares: shares.map(
      ({ process, ...share }) => [process, writeShare({ ...share, sequence: 0 })] as const,
    ),
    past: isPast(entry, now),
  })
}
