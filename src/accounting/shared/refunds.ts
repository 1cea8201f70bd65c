import type { NanoUsd, UnixSeconds } from '../../core/ids.ts'
import type { Clock } from '../../core/ports.ts'
import { unixSeconds } from '../../core/unix-seconds.ts'
import type { ChargedRow, Store } from '../../store/index.ts'
import type { EndOutcome } from './functions.ts'
import { type ChargedHold, listSubjects, nameAccount } from './hold.ts'
import { toLostRow } from './lost-row.ts'
import type { OwnShares } from './own-shares.ts'
import type { Settlements } from './settlements.ts'

export interface RefundOptions {
  readonly clock: Clock
  readonly own: OwnShares
  readonly settlements: Settlements
  readonly store: Pick<Store, 'findUsage'>
  readonly addRow: (row: ChargedRow) => void
}

/** A request that may have been charged as lost, and how often that is still looked up. */
interface Unsure {
  readonly hold: ChargedHold
  readonly lookups: number
}

/** A lost request is charged within this time before its end is delivered. */
const maxAge: UnixSeconds = 900

/** The row of a charge may be saved a moment later. */
const maxLookups = 2

/** Takes back what other processes have charged for this one when they took it for dead. */
export class Refunds {
  readonly #options: RefundOptions
  /** The server did not know these holds. It may have lost its data after they were charged. */
  readonly #doubted = new WeakSet<ChargedHold>()
  #unsure: readonly Unsure[] = []

  constructor(options: RefundOptions) {
    this.#options = options
  }

  /** Notes that the server does not know a hold of this process. */
  doubt(hold: ChargedHold): void {
    this.#doubted.add(hold)
  }

  /** Follows how a hold of this process has ended. */
  follow(hold: ChargedHold, outcome: EndOutcome): void {
    if (hold.facts.cost === 0n) return
    if (outcome === 'gone') this.doubt(hold)
    if (outcome === 'charged') this.#refund(hold, hold.facts.cost)
    else if (this.#doubted.has(hold)) this.#unsure = [...this.#unsure, { hold, lookups: 0 }]
  }

  /** Looks for charges of requests whose hold the server did not know. Rejects when the database cannot be used. */
  async check(): Promise<void> {
    const { store, clock } = this.#options
    const checked = this.#unsure
    if (checked.length === 0) return
    const found = await store.findUsage({
      requests: checked.map(({ hold }) => toRequest(hold)),
      since: unixSeconds(clock) - maxAge,
      until: Number.MAX_SAFE_INTEGER,
    })
    const costs = new Map(found.map((one) => [`${one.keyId} ${one.requestId}`, one.lostCost]))
    const again = checked.flatMap(({ hold, lookups }) => {
      const { keyId, requestId } = toRequest(hold)
      const cost = costs.get(`${keyId} ${requestId}`) ?? 0n
      if (cost > 0n) this.#refund(hold, cost)
      return cost > 0n || lookups + 1 === maxLookups ? [] : { hold, lookups: lookups + 1 }
    })
    this.#unsure = [...again, ...this.#unsure.filter((one) => !checked.includes(one))]
  }

  #refund(hold: ChargedHold, cost: bigint): void {
    const { own, settlements, clock, addRow } = this.#options
    const { facts, subjects } = hold
    const [key, group] = subjects
    for (const { account, term } of subjects) {
      account.charge(-cost, term)
      own.charge(nameAccount(account), -cost, term)
    }
    settlements.send([], listSubjects(hold))
    // The ids of the hold's own accounts.
    const account = { keyId: key?.account.record.id, groupId: group?.account.record.id ?? null }
    addRow(
      toLostRow({
        facts,
        account: account as Pick<ChargedRow, 'keyId' | 'groupId'>,
        keyTerm: key?.term,
        groupTerm: group?.term,
        cost: -cost as NanoUsd,
        ts: unixSeconds(clock),
      }),
    )
  }
}

function toRequest({ facts, subjects }: ChargedHold) {
  return { requestId: facts.id, keyId: subjects[0]?.account.record.id ?? '' }
}
