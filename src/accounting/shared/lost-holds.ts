import type { BudgetTerm } from '../../core/budget-period.ts'
import type { NanoUsd } from '../../core/ids.ts'
import { toUsd } from '../../core/money.ts'
import type { Clock, Log } from '../../core/ports.ts'
import { unixSeconds } from '../../core/unix-seconds.ts'
import type { ChargedRow } from '../../store/index.ts'
import type { AccountEntry } from '../account-entry.ts'
import type { Claim } from './functions.ts'
import { type LostHold, readRecord } from './hold.ts'
import { toLostRow } from './lost-row.ts'
import type { OwnShares } from './own-shares.ts'
import type { Settlements } from './settlements.ts'
import type { SubjectName } from './values.ts'

export interface LostHoldOptions {
  readonly clock: Clock
  readonly log: Log
  readonly own: OwnShares
  readonly settlements: Settlements
  readonly find: (name: SubjectName) => AccountEntry | undefined
  readonly addRow: (row: ChargedRow) => void
}

/** Charges what processes that have died had reserved. */
export class LostHolds {
  readonly #options: LostHoldOptions

  constructor(options: LostHoldOptions) {
    this.#options = options
  }

  charge(claims: readonly Claim[]): void {
    const { settlements } = this.#options
    for (const [id, record] of claims) {
      // The claim may be ours from before.
      if (!settlements.isPending(id)) this.#charge(readRecord(id, record))
    }
  }

  #charge(hold: LostHold): void {
    const { settlements } = this.#options
    const { id, facts } = hold
    const names = hold.terms.map(({ name }) => name)
    // Before the call: it counts the charge and ends the hold together, or neither.
    this.#add(hold, facts.cost)
    const onOutcome = (outcome: string) => {
      if (outcome === 'ended') return this.#addRow(hold)
      this.#add(hold, -facts.cost)
      settlements.send([], names)
    }
    settlements.send([{ id, mode: 'lost', tokens: undefined, onOutcome }], names)
  }

  #add({ terms }: LostHold, amount: bigint): void {
    if (amount === 0n) return
    const { own, find } = this.#options
    for (const { name, since } of terms) {
      const term = toTerm(since, find(name))
      find(name)?.charge(amount, term)
      own.charge(name, amount, term)
    }
  }

  #addRow({ facts, account, terms }: LostHold): void {
    const { clock, log, find, addRow } = this.#options
    const [keyTerm, groupTerm] = terms.map(({ name, since }) => toTerm(since, find(name)))
    const ts = unixSeconds(clock)
    addRow(toLostRow({ facts, account, keyTerm, groupTerm, cost: facts.cost, ts }))
    log.write('warn', 'charged a request whose gateway has died', {
      request_id: facts.id,
      key_id: account.keyId,
      // An amount of nano-dollars.
      cost_usd: toUsd(facts.cost as NanoUsd),
    })
  }
}

/** Returns the term that began at `since`; its end is known only while it lasts. */
function toTerm(since: number, account: AccountEntry | undefined): BudgetTerm {
  return account?.term.since === since ? account.term : { period: null, since, resetsAt: null }
}
