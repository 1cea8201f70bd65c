import type { AccountState, BudgetGroup, VirtualKey } from '../core/accounts.ts'
import type { Millis } from '../core/ids.ts'
import type { GroupRow, KeyRow } from '../store/index.ts'
import { Budget } from './budget.ts'
import { MinuteWindow } from './window.ts'

/**
 * A key or a group in memory: its record, its budget, its counts for the current minute, and its
 * running requests. These are counted even without a limit, so that a new limit applies at once to
 * the requests that are running.
 */
export class AccountEntry<Record extends VirtualKey | BudgetGroup = VirtualKey | BudgetGroup>
  extends Budget<Record>
  implements AccountState<Record>
{
  readonly requests = new MinuteWindow()
  readonly tokens = new MinuteWindow()
  #running = 0

  get running(): number {
    return this.#running
  }

  /** Takes over the counts of all processes that share them, in the minute of `now`. */
  shareCounts({ running, requests, tokens }: SharedCounts, now: Millis): void {
    this.#running = running
    this.requests.set(requests, now)
    this.tokens.set(tokens, now)
  }

  enter(): void {
    this.#running++
  }

  leave(): void {
    this.#running--
  }
}

export interface SharedCounts {
  readonly running: number
  /** In the current minute. */
  readonly requests: number
  readonly tokens: number
}

export type KeyEntry = AccountEntry<VirtualKey>
export type GroupEntry = AccountEntry<BudgetGroup>

/** Creates the entry of a key as the database has it. */
export function createKeyEntry(row: KeyRow): KeyEntry {
  // Records are shown to clients, so they must not hold the digests.
  const { digest: _, formerDigest: __, budgetSpent, spentTotal, term, ...record } = row
  return new AccountEntry({ scope: 'key', record, spent: budgetSpent, spentTotal, term })
}

/** Creates the entry of a group as the database has it. */
export function createGroupEntry(row: GroupRow): GroupEntry {
  const { budgetSpent, spentTotal, term, ...record } = row
  return new AccountEntry({ scope: 'group', record, spent: budgetSpent, spentTotal, term })
}
