import type { Admission } from '../../core/admission.ts'
import type { Millis } from '../../core/ids.ts'
import type { Clock } from '../../core/ports.ts'
import {
  checkAdmission,
  type Demand,
  estimateDemand,
  holdAccounts,
  previewAdmission,
} from '../admission.ts'
import type { AdmissionRequest, HitRequest, PreviewRequest } from '../admission-request.ts'
import { admitHit } from '../hit-admission.ts'
import { buildRateHeaders } from '../rate-headers.ts'
import { type HoldLedger, SharedAdmission, SharedHit } from './admission.ts'
import type { Decisions } from './decisions.ts'
import type { SharedFunctions } from './functions.ts'
import { factsOf, nameAccount, nameHold, type SharedHold, writeFacts } from './hold.ts'
import { isCut, isLoss, mayHaveRun, repeatTime, unavailable } from './loss.ts'
import type { OpenHolds } from './open-holds.ts'
import type { ServerClock } from './server-clock.ts'
import type { Settlements } from './settlements.ts'

const free: Demand = Object.freeze({ tokens: 0, cost: 0n, isFree: true })

export interface AdmissionsOptions {
  /** The id of this process. */
  readonly process: string
  /** See `SharedLedgerOptions`. */
  readonly onLoss: 'refuse' | 'local'
  readonly clock: Pick<Clock, 'elapsed'>
  readonly serverClock: ServerClock
  readonly decisions: Decisions
  readonly functions: SharedFunctions
  readonly holds: OpenHolds
  readonly settlements: Settlements
  readonly ledger: HoldLedger
}

/** Admits requests by the decisions of the server or, where the settings say so, by this process while it is away. */
export class Admissions {
  readonly #options: AdmissionsOptions
  #lastHold = 0

  constructor(options: AdmissionsOptions) {
    this.#options = options
  }

  /** Admits a request that has a limit. */
  async admit(
    request: AdmissionRequest,
    repeatUntil: Millis = this.#options.clock.elapsed() + repeatTime,
  ): Promise<Admission> {
    const demand = estimateDemand(request)
    const id = this.#nextId()
    const facts = factsOf(request, demand.cost)
    const { accounts } = request
    const { tokens, cost } = demand
    const ask = { mode: 'admit', id, ...demand, facts: writeFacts(facts), accounts } as const
    this.#options.holds.ask(id)
    try {
      return await this.#options.decisions.decide(ask, ({ status, now }) => {
        if (status === 'refused') return this.#refuse(request)
        const subjects = accounts.map((account) => {
          const reserved = account.record.budgetMax === null ? 0n : cost
          return { account, term: account.term, reserved }
        })
        this.#options.holds.know(id)
        return this.#open({ id, minute: toMinute(now), tokens, facts, subjects }, now)
      })
    } catch (error) {
      if (!isLoss(error)) throw error
      const withdrawal = { id, mode: 'withdraw', tokens: undefined, isUrgent: true } as const
      if (isCut(error) && this.#options.clock.elapsed() < repeatUntil) {
        // Before the next admission, which it must not be in the way of.
        this.#options.settlements.send([withdrawal], [])
        return await this.admit(request, repeatUntil)
      }
      // The server may have admitted it all the same.
      if (mayHaveRun(error)) this.#options.settlements.keep(withdrawal)
      if (this.#options.onLoss === 'refuse') throw unavailable()
      return this.enter(
        request,
        checkAdmission({ ...request, now: this.#options.serverClock.now() }),
      )
    } finally {
      this.#options.holds.answer(id)
    }
  }

  /** Throws why the server has refused, from the counts that it has replied with. */
  #refuse(request: AdmissionRequest): Admission | Promise<Admission> {
    checkAdmission({ ...request, now: this.#options.serverClock.now() })
    // The limits were changed in the meantime.
    return this.admit(request)
  }

  /** Admits an answer from the cache for an account with a limit of requests a minute. */
  async admitHit(request: HitRequest): Promise<Admission> {
    const { accounts } = request
    try {
      const ask = { mode: 'hit', id: '', ...free, facts: '', accounts } as const
      return await this.#options.decisions.decide(ask, ({ status, now }) => {
        if (status === 'refused') return admitHit({ accounts, now })
        const names = accounts.filter(({ record }) => record.rpmLimit !== null).map(nameAccount)
        return new SharedHit(buildRateHeaders(accounts, now), () => {
          // A hit that is not taken back counts until its minute is over.
          this.#options.functions.unhit(toMinute(now), names).catch(() => {})
        })
      })
    } catch (error) {
      if (!isLoss(error)) throw error
      if (this.#options.onLoss === 'refuse') throw unavailable()
      return admitHit({ accounts, now: this.#options.serverClock.now() })
    }
  }

  /** Throws why a request would be refused. */
  async preview(request: PreviewRequest): Promise<void> {
    const demand = estimateDemand(request)
    const { accounts } = request
    const ask = { mode: 'preview', id: '', ...demand, facts: '', accounts } as const
    try {
      await this.#options.decisions.decide(ask, ({ now }) => previewAdmission({ ...request, now }))
    } catch (error) {
      if (!isLoss(error)) throw error
      if (this.#options.onLoss === 'refuse') throw unavailable()
      previewAdmission({ ...request, now: this.#options.serverClock.now() })
    }
  }

  /** Admits a request in this process alone. */
  enter(request: AdmissionRequest, demand: Demand = free): Admission {
    const now = this.#options.serverClock.now()
    for (const account of request.accounts) account.turn(now)
    const subjects = holdAccounts(demand, { ...request, now })
    const facts = factsOf(request, demand.cost)
    const { tokens } = demand
    return this.#open({ id: this.#nextId(), minute: toMinute(now), tokens, facts, subjects }, now)
  }

  #open(hold: SharedHold, now: Millis): Admission {
    this.#options.holds.add(hold)
    const accounts = hold.subjects.map(({ account }) => account)
    return new SharedAdmission(hold, this.#options.ledger, buildRateHeaders(accounts, now))
  }

  #nextId(): string {
    return nameHold(this.#options.process, ++this.#lastHold)
  }
}

function toMinute(now: Millis): number {
  return Math.floor(now / 60_000)
}
