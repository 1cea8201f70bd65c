import type { Admission } from '../../core/admission.ts'
import type { Millis } from '../../core/ids.ts'
import type { Clock, Log } from '../../core/ports.ts'
import { type SharedState, SharedStateFault } from '../../core/shared-state.ts'
import type { JournalRow, LostCharge, Store } from '../../store/index.ts'
import type { AccountEntry } from '../account-entry.ts'
import {
  checkAdmission,
  type Demand,
  estimateDemand,
  holdAccounts,
  previewAdmission,
} from '../admission.ts'
import type { AdmissionRequest, HitRequest, PreviewRequest } from '../admission-request.ts'
import type { BudgetEvents } from '../budget-events.ts'
import type { BudgetObserver } from '../budget-observer.ts'
import { admitHit } from '../hit-admission.ts'
import type { RowKeeper } from '../journal-writer.ts'
import type { Ledger } from '../ledger.ts'
import { buildRateHeaders } from '../rate-headers.ts'
import { SharedAdmission, SharedHit } from './admission.ts'
import { Alerts } from './alerts.ts'
import { Configurations } from './configurations.ts'
import { EndedBooks } from './ended-books.ts'
import { EndedHolds } from './ended-holds.ts'
import {
  type HoldEnd,
  type SharedAsk,
  type SharedDecision,
  SharedFunctions,
  type SharedReading,
} from './functions.ts'
import {
  type ChargedHold,
  factsOf,
  listSubjects,
  nameAccount,
  nameHold,
  type SharedHold,
  writeFacts,
} from './hold.ts'
import { isCut, isLoss, mayHaveRun, unavailable } from './loss.ts'
import { LostHolds } from './lost-holds.ts'
import { LostRows } from './lost-rows.ts'
import { Membership } from './membership.ts'
import { Mirror } from './mirror.ts'
import { OpenHolds } from './open-holds.ts'
import { OwnShares } from './own-shares.ts'
import { PastAccounts } from './past-accounts.ts'
import { Refunds } from './refunds.ts'
import { type Recover, Seeds } from './seeds.ts'
import { ServerClock } from './server-clock.ts'
import { Settlements } from './settlements.ts'
import { StrayHolds } from './stray-holds.ts'
import type { SubjectName } from './values.ts'

export interface SharedLedgerOptions {
  readonly state: SharedState
  /** The id of this process: random, for its life. */
  readonly process: string
  /** `refuse`: requests that need admission fail while the server cannot be used. */
  readonly onLoss: 'refuse' | 'local'
  readonly onLostHold: 'charge' | 'release'
  readonly lease: Millis
  readonly store: Pick<
    Store,
    'readSpend' | 'readShares' | 'forgetProcess' | 'findUsage' | 'addLostUsage'
  >
  readonly keeper: RowKeeper
  readonly clock: Clock
  readonly log: Log
  readonly events: BudgetEvents
  readonly find: (name: SubjectName) => AccountEntry | undefined
  /** See `recoverUsage`. */
  readonly recover: Recover
  /** Adds a row that takes a charge back. */
  readonly addRow: (row: JournalRow) => void
}

/** A server that pauses must not run a call that was given up: until then it may. */
const callTime: Millis = 800

/** A request waits for its admission at most about so long. */
const maxWait: Millis = 1_500

/** For so long an admission is asked for again whose connection was cut. */
const repeatTime: Millis = 500

/** Names per call, so that no call holds the server up. */
const maxPerCall = 100

/**
 * Counts on a server that all processes share. The accounts in memory have what the server has said last,
 * and the charges of this process that it does not know yet.
 */
export class SharedLedger implements Ledger, BudgetObserver {
  readonly #options: SharedLedgerOptions
  readonly #clock: ServerClock
  readonly #functions: SharedFunctions
  readonly #own = new OwnShares()
  readonly #holds = new OpenHolds()
  readonly #ended = new EndedHolds(this.#own)
  readonly #alerts: Alerts
  readonly #mirror: Mirror
  readonly #settlements: Settlements
  readonly #seeds: Seeds
  readonly #refunds: Refunds
  readonly #books: EndedBooks
  readonly #lost: LostHolds
  readonly #lostRows: LostRows
  readonly #configurations: Configurations
  readonly #past: PastAccounts
  readonly #membership: Membership
  #lastHold = 0

  constructor(options: SharedLedgerOptions) {
    const { find, log } = options
    this.#options = options
    this.#alerts = new Alerts(options)
    this.#clock = new ServerClock(options.clock)
    const functions = new SharedFunctions({
      ...options,
      onReply: ({ now, epoch }) => {
        this.#clock.set(now)
        this.#membership.follow(epoch)
      },
    })
    this.#functions = functions
    const own = this.#own
    this.#mirror = new Mirror({
      own,
      ended: this.#ended,
      clock: this.#clock,
      alerts: this.#alerts,
    })
    const settlements = new Settlements({
      functions,
      own,
      keeper: options.keeper,
      log,
      onFired: (fired) => {
        for (const [name, subject] of fired) this.#mirror.follow([find(name)], [subject])
      },
    })
    this.#settlements = settlements
    this.#seeds = new Seeds({ ...options, functions, clock: this.#clock })
    this.#refunds = new Refunds({ ...options, own, settlements })
    const books = new EndedBooks({
      ...options,
      functions,
      mirror: this.#mirror,
      bring: (unseeded) => this.#bring(unseeded),
    })
    this.#books = books
    const lostRows = new LostRows(options)
    this.#lostRows = lostRows
    this.#lost = new LostHolds({ ...options, own, settlements, books, rows: lostRows })
    const configurations = new Configurations({ functions, log })
    this.#configurations = configurations
    const past = new PastAccounts({ functions, find, clock: this.#clock })
    this.#past = past
    this.#membership = new Membership({
      ...options,
      functions,
      own,
      settlements,
      configurations,
      past,
      holds: this.#holds,
      strays: new StrayHolds({ functions, own, settlements, holds: this.#holds }),
      lost: this.#lost,
      books,
      lostRows,
    })
  }

  /** Joins the other processes, now and whenever the server has been away. */
  start(): void {
    this.#membership.start()
  }

  now(): Millis {
    return this.#clock.now()
  }

  admit(request: AdmissionRequest): Admission | Promise<Admission> {
    return request.accounts.some(isLimited) ? this.#admit(request) : this.#enter(request, free)
  }

  admitHit(request: HitRequest): Admission | Promise<Admission> {
    const isCounted = request.accounts.some(({ record }) => record.rpmLimit !== null)
    return isCounted ? this.#admitHit(request) : admitHit(request)
  }

  preview(request: PreviewRequest): void | Promise<void> {
    return request.accounts.some(isLimited) ? this.#preview(request) : undefined
  }

  /** Brings the accounts in memory up to date, if the server can be used. */
  async refresh(accounts: readonly AccountEntry[]): Promise<void> {
    for (let at = 0; at < accounts.length; at += maxPerCall) {
      const page = accounts.slice(at, at + maxPerCall)
      const isRead = await this.#read(page).catch((error: unknown) => {
        if (!isLoss(error)) throw error
        return false
      })
      if (!isRead) return
    }
  }

  /** Resolves when everything that was sent has been answered. */
  async idle(): Promise<void> {
    await this.#membership.idle()
    await this.#rest()
  }

  /**
   * Sends the ends of requests with limits. To be called before a client can see the end of its request: the
   * next one may come to another process.
   */
  sendEnds(): void {
    this.#options.state.flush()
  }

  /** Takes back a charge for the request of a saved row, which another process took for lost. */
  refund(row: JournalRow, charge: LostCharge): void {
    this.#refunds.add(row, charge)
  }

  /** Delivers and saves what is left, if that is possible, and ends the renewals. */
  async close(): Promise<void> {
    this.#membership.close()
    await this.#rest()
    await this.#lostRows.save()
    if (this.#options.state.isUp) this.#settlements.sendPending()
    await this.#settlements.idle()
  }

  async #rest(): Promise<void> {
    await this.#lost.idle()
    await this.#books.idle()
    await this.#settlements.idle()
  }

  // The server observes its budgets itself, unless it is away; changes of records must be sent to it.
  changed(account: AccountEntry): void {
    this.#configurations.follow(account)
    this.#past.note(account)
  }

  loaded(account: AccountEntry): void {
    this.#configurations.note(account)
    this.#past.note(account)
  }

  refused(account: AccountEntry): void {
    this.#alerts.refused(account)
  }

  charged(): void {}
  admitted(): void {}
  turned(): void {}

  async #admit(
    request: AdmissionRequest,
    repeatUntil: Millis = this.#options.clock.elapsed() + repeatTime,
  ): Promise<Admission> {
    const demand = estimateDemand(request)
    const id = this.#nextId()
    const facts = factsOf(request, demand.cost)
    const { accounts } = request
    const { tokens, cost } = demand
    const ask = { mode: 'admit', id, tokens, cost, facts: writeFacts(facts), accounts } as const
    this.#holds.ask(id)
    try {
      return await this.#decide(ask, ({ status, now }) => {
        if (status === 'refused') return this.#refuse(request)
        const subjects = accounts.map((account) => {
          const reserved = account.record.budgetMax === null ? 0n : cost
          return { account, term: account.term, reserved }
        })
        this.#holds.know(id)
        return this.#open({ id, minute: toMinute(now), tokens, facts, subjects }, now)
      })
    } catch (error) {
      if (!isLoss(error)) throw error
      const withdrawal = { id, mode: 'withdraw', tokens: undefined, isUrgent: true } as const
      if (isCut(error) && this.#options.clock.elapsed() < repeatUntil) {
        // Before the next admission, which it must not be in the way of.
        this.#settlements.send([withdrawal], [])
        return await this.#admit(request, repeatUntil)
      }
      // The server may have admitted it all the same.
      if (mayHaveRun(error)) this.#settlements.keep(withdrawal)
      if (this.#options.onLoss === 'refuse') throw unavailable()
      return this.#enter(request, checkAdmission({ ...request, now: this.now() }))
    } finally {
      this.#holds.answer(id)
    }
  }

  /** Throws why the server has refused, from the counts that it has replied with. */
  #refuse(request: AdmissionRequest): Admission | Promise<Admission> {
    checkAdmission({ ...request, now: this.now() })
    // The limits were changed in the meantime.
    return this.#admit(request)
  }

  async #admitHit(request: HitRequest): Promise<Admission> {
    const { accounts } = request
    try {
      const ask = { mode: 'hit', id: '', ...free, facts: '', accounts } as const
      return await this.#decide(ask, ({ status, now }) => {
        if (status === 'refused') return admitHit({ accounts, now })
        const names = accounts.filter(({ record }) => record.rpmLimit !== null).map(nameAccount)
        return new SharedHit(buildRateHeaders(accounts, now), () => {
          // A hit that is not taken back counts until its minute is over.
          this.#functions.unhit(toMinute(now), names).catch(() => {})
        })
      })
    } catch (error) {
      if (!isLoss(error)) throw error
      if (this.#options.onLoss === 'refuse') throw unavailable()
      return admitHit({ accounts, now: this.now() })
    }
  }

  async #preview(request: PreviewRequest): Promise<void> {
    const demand = estimateDemand(request)
    const { accounts } = request
    const ask = { mode: 'preview', id: '', ...demand, facts: '', accounts } as const
    try {
      await this.#decide(ask, ({ now }) => previewAdmission({ ...request, now }))
    } catch (error) {
      if (!isLoss(error)) throw error
      if (this.#options.onLoss === 'refuse') throw unavailable()
      previewAdmission({ ...request, now: this.now() })
    }
  }

  /**
   * Asks the server until it has decided. Rejects when it cannot. `conclude` is called while the accounts in
   * memory are as the server has replied: before any other reply.
   */
  async #decide<Result>(
    ask: SharedAsk,
    conclude: (decision: Decided) => Result | Promise<Result>,
  ): Promise<Result> {
    const { clock } = this.#options
    const end = clock.elapsed() + maxWait
    let { mode } = ask
    while (clock.elapsed() <= end) {
      // Without a reply so far the time of the server is unknown: the first call learns it.
      const deadline = this.#clock.isSet ? this.now() + callTime : 0
      const decision = await this.#functions.admit({ ...ask, mode }, deadline)
      switch (decision.status) {
        case 'admitted':
        case 'refused':
          this.#mirror.follow(ask.accounts, decision.subjects)
          this.#lost.end(decision.claims)
          return conclude(decision)
        case 'busy':
          this.#lost.end(decision.claims)
          mode = 'insist'
          break
        case 'unseeded':
          await this.#bring(decision)
          break
        case 'empty':
          await this.#membership.join()
          break
        case 'late':
          break
        default:
          decision satisfies never
      }
    }
    throw new SharedStateFault('the server was too slow')
  }

  async #bring({ epoch, wait, names }: Unseeded): Promise<void> {
    if (wait > 0) await this.#pause(wait)
    await this.#seeds.bring(epoch, names)
  }

  #pause(wait: Millis): Promise<void> {
    return new Promise((resolve) => {
      this.#options.clock.schedule(wait, resolve)
    })
  }

  /** Admits a request in this process alone. */
  #enter(request: AdmissionRequest, demand: Demand): Admission {
    const now = this.now()
    for (const account of request.accounts) account.turn(now)
    const subjects = holdAccounts(demand, { ...request, now })
    const facts = factsOf(request, demand.cost)
    const { tokens } = demand
    return this.#open({ id: this.#nextId(), minute: toMinute(now), tokens, facts, subjects }, now)
  }

  #open(hold: SharedHold, now: Millis): Admission {
    this.#holds.add(hold)
    const accounts = hold.subjects.map(({ account }) => account)
    return new SharedAdmission(hold, this.#keeper, buildRateHeaders(accounts, now))
  }

  readonly #keeper = {
    charge: ({ subjects }: ChargedHold, amount: bigint) => {
      if (amount === 0n) return
      for (const { account, term } of subjects) {
        const before = account.spent
        if (account.charge(amount, term)) this.#alerts.charged(account, before)
        this.#own.charge(nameAccount(account), amount, term)
      }
    },
    end: (hold: SharedHold, { mode, tokens }: Pick<HoldEnd, 'mode' | 'tokens'>) => {
      const { id, subjects, facts } = hold
      for (const { account, term, reserved } of subjects) {
        account.leave()
        account.release(reserved, term)
      }
      const isKnown = this.#holds.end(id)
      const isUrgent = mode === 'withdraw' || subjects.some(({ account }) => hasPlaces(account))
      if (isKnown) this.#ended.add(hold)
      const onOutcome = () => this.#ended.delete(hold)
      const ends = isKnown ? [{ id, mode, tokens, isUrgent, onOutcome }] : []
      const isFree = mode === 'withdraw' && facts.cost === 0n
      this.#settlements.send(ends, isFree ? [] : listSubjects(hold))
    },
    deliver: (hold: ChargedHold) => this.#settlements.send([], listSubjects(hold)),
  }

  #nextId(): string {
    return nameHold(this.#options.process, ++this.#lastHold)
  }

  async #read(accounts: readonly AccountEntry[]): Promise<boolean> {
    const names = accounts.map(nameAccount)
    const { clock } = this.#options
    const end = clock.elapsed() + maxWait
    while (clock.elapsed() <= end) {
      const reading = await this.#functions.read(names)
      if (reading.status === 'known') {
        this.#mirror.follow(accounts, reading.subjects)
        return true
      }
      if (reading.epoch === '') await this.#membership.join()
      else await this.#bring(reading)
    }
    return false
  }
}

type Unseeded = Extract<SharedReading, { status: 'unseeded' }>

type Decided = Extract<SharedDecision, { status: 'admitted' | 'refused' }>

const free: Demand = Object.freeze({ tokens: 0, cost: 0n })

function isLimited({ record }: AccountEntry): boolean {
  const { rpmLimit, tpmLimit, maxParallel, budgetMax } = record
  return rpmLimit !== null || tpmLimit !== null || maxParallel !== null || budgetMax !== null
}

/** True when the end of a request makes room for another one. That of a request of the minute does not. */
function hasPlaces({ record: { tpmLimit, maxParallel, budgetMax } }: AccountEntry): boolean {
  return tpmLimit !== null || maxParallel !== null || budgetMax !== null
}

function toMinute(now: Millis): number {
  return Math.floor(now / 60_000)
}
