import type { BudgetTerm } from '../../core/budget-period.ts'
import type { NanoUsd, UnixSeconds } from '../../core/ids.ts'
import { toUsd } from '../../core/money.ts'
import type { Clock, Log } from '../../core/ports.ts'
import { unixSeconds } from '../../core/unix-seconds.ts'
import type { ChargedRow, FoundRequest, Store, UsageRequest } from '../../store/index.ts'
import type { AccountEntry } from '../account-entry.ts'
import type { EndOutcome, HoldClaim } from './functions.ts'
import { type LostHold, processOf, readRecord } from './hold.ts'
import { isLoss } from './loss.ts'
import { toLostRow } from './lost-row.ts'
import type { LostRow, LostRows } from './lost-rows.ts'
import type { ProcessCharges } from './process-charges.ts'
import type { ProcessReconciler } from './process-reconciler.ts'
import type { Settlements } from './settlements.ts'
import type { SubjectName } from './values.ts'

export interface LostHoldOptions {
  readonly clock: Clock
  readonly log: Log
  readonly charges: ProcessCharges
  readonly settlements: Settlements
  readonly reconciler: Pick<ProcessReconciler, 'reconcile'>
  readonly store: Pick<Store, 'findUsage'>
  readonly find: (name: SubjectName) => AccountEntry | undefined
  readonly rows: LostRows
}

/** How long a hold is kept when only another process has a row for its request. */
const maxSlowMinutes = 15

/** The clocks of the server and of a process may differ by so much. */
const maxClockSkew: UnixSeconds = 60

/** Ends the holds of processes that have died, and charges those whose request has no usage row. */
export class LostHolds {
  readonly #options: LostHoldOptions
  /** Those whose end is not decided yet. */
  readonly #open = new Set<string>()
  #running: Promise<void> = Promise.resolve()

  constructor(options: LostHoldOptions) {
    this.#options = options
  }

  /** Ends holds that this process has claimed. What cannot be decided now is claimed again later. */
  end(claims: readonly HoldClaim[]): void {
    const { settlements, log } = this.#options
    // The claim may be ours from before.
    const newClaims = claims.filter(([id]) => !this.#open.has(id) && !settlements.isPending(id))
    if (newClaims.length === 0) return
    for (const [id] of newClaims) this.#open.add(id)
    const ending = this.#end(newClaims.map(([id, record]) => readRecord(id, record)))
      .catch((error: unknown) => {
        if (isLoss(error)) return
        log.write('error', 'the shared state has failed', { error: String(error) })
      })
      .finally(() => {
        for (const [id] of newClaims) this.#open.delete(id)
      })
    this.#running = Promise.all([this.#running, ending]).then(() => {})
  }

  /** Resolves when the end of every claimed hold is decided. */
  idle(): Promise<void> {
    return this.#running
  }

  async #end(holds: readonly LostHold[]): Promise<void> {
    const { reconciler, store, rows } = this.#options
    // First: a process that has died may have left the row in its journal, and its charge is not to be
    // missing when the reservation goes.
    await reconciler.reconcile(holds.map(({ id }) => processOf(id)))
    const { last, requests } = await store.findUsage({
      requests: holds.map(toRequest),
      since: 60 * Math.min(...holds.map(({ minute }) => minute)) - maxClockSkew,
      until: Number.MAX_SAFE_INTEGER,
    })
    const recorded = new Map(requests.map((one) => [describe(one), one]))
    const lost: LostHold[] = []
    for (const hold of holds) {
      const found = recorded.get(describe(toRequest(hold)))
      if (found) this.#release(hold, found)
      else lost.push(hold)
    }
    const kept = rows.keep(
      lost.map((hold) => this.#toRow(hold)),
      last,
    )
    for (const [at, row] of kept.entries()) this.#charge(lost[at] as LostHold, row)
  }

  #release({ id, minute }: LostHold, { isLost }: FoundRequest): void {
    const { clock, settlements } = this.#options
    // The server may not know the charge of another process that has charged the request and has died.
    const age = Math.floor(clock.now() / 60_000) - minute
    if (isLost && age <= maxSlowMinutes) return
    settlements.send([{ id, mode: 'recorded', tokens: undefined }], [])
  }

  #charge(hold: LostHold, row: LostRow): void {
    const { settlements, rows, log } = this.#options
    const { id, facts, account } = hold
    const names = hold.terms.map(({ name }) => name)
    // Before the call: it counts the charge and ends the hold together, or neither.
    this.#add(hold, facts.cost)
    const takeBack = () => {
      this.#add(hold, -facts.cost)
      settlements.send([], names)
    }
    const onSaved = () => {
      log.write('warn', 'charged a request whose gateway has died', {
        request_id: facts.id,
        key_id: account.keyId,
        // An amount of nano-dollars.
        cost_usd: toUsd(facts.cost as NanoUsd),
      })
    }
    const onOutcome = (outcome: EndOutcome) => {
      if (outcome === 'ended') return rows.add({ ...row, onSaved, onRefused: takeBack })
      rows.drop(row)
      takeBack()
    }
    settlements.send([{ id, mode: 'lost', tokens: undefined, onOutcome }], names)
  }

  #add({ terms }: LostHold, amount: bigint): void {
    if (amount === 0n) return
    const { charges, find } = this.#options
    for (const { name, since } of terms) {
      const term = toTerm(since, find(name))
      find(name)?.charge(amount, term)
      charges.charge(name, amount, term)
    }
  }

  #toRow({ facts, account, terms }: LostHold): ChargedRow {
    const { clock, find } = this.#options
    const [keyTerm, groupTerm] = terms.map(({ name, since }) => toTerm(since, find(name)))
    const ts = unixSeconds(clock)
    return toLostRow({ facts, account, keyTerm, groupTerm, cost: facts.cost, ts })
  }
}

function toRequest({ facts, account }: LostHold): UsageRequest {
  return { requestId: facts.id, keyId: account.keyId }
}

function describe({ requestId, keyId }: UsageRequest): string {
  return `${keyId} ${requestId}`
}

/** Returns the term that began at `since`; its end is known only while it lasts. */
function toTerm(since: number, account: AccountEntry | undefined): BudgetTerm {
  return account?.term.since === since ? account.term : { period: null, since, resetsAt: null }
}
