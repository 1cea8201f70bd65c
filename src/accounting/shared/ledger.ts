import type { Admission } from '../../core/admission.ts'
import type { Millis } from '../../core/ids.ts'
import type { Clock, Log } from '../../core/ports.ts'
import { type SharedState } from '../../core/shared-state.ts'
import type { JournalRow, LostCharge, Store } from '../../store/index.ts'
import type { AccountEntry } from '../account-entry.ts'
import { hasEstimatedLimit } from '../admission.ts'
import type { AdmissionRequest, HitRequest, PreviewRequest } from '../admission-request.ts'
import type { BudgetEvents } from '../budget-events.ts'
import type { BudgetObserver } from '../budget-observer.ts'
import { admitHit } from '../hit-admission.ts'
import type { RowJournal } from '../journal-writer.ts'
import type { Ledger } from '../ledger.ts'
import { AccountLoader, type Recover } from './account-loader.ts'
import { AccountReplica } from './account-replica.ts'
import { Admissions } from './admissions.ts'
import { Alerts } from './alerts.ts'
import { Configurations } from './configurations.ts'
import { Decisions } from './decisions.ts'
import { EndedHolds } from './ended-holds.ts'
import { Extensions } from './extensions.ts'
import { SharedFunctions } from './functions.ts'
import { HoldEnds } from './hold-ends.ts'
import { isLoss } from './loss.ts'
import { LostHolds } from './lost-holds.ts'
import { LostRows } from './lost-rows.ts'
import { Membership } from './membership.ts'
import { OpenHolds } from './open-holds.ts'
import { PastAccounts } from './past-accounts.ts'
import { ProcessCharges } from './process-charges.ts'
import { ProcessReconciler } from './process-reconciler.ts'
import { Refunds } from './refunds.ts'
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
  readonly rowJournal: RowJournal
  readonly clock: Clock
  readonly log: Log
  readonly events: BudgetEvents
  readonly find: (name: SubjectName) => AccountEntry | undefined
  /** See `recoverUsage`. */
  readonly recover: Recover
  /** Adds a row that takes a charge back. */
  readonly addRow: (row: JournalRow) => void
}

/** Names per call, so that no call holds the server up. */
const maxPerCall = 100

/**
 * Counts on a server that all processes share. The accounts in memory have what the server has said last,
 * and the charges of this process that it does not know yet.
 */
export class SharedLedger implements Ledger, BudgetObserver {
  readonly #options: SharedLedgerOptions
  readonly #clock: ServerClock
  readonly #charges = new ProcessCharges()
  readonly #holds = new OpenHolds()
  readonly #ended = new EndedHolds(this.#charges)
  readonly #alerts: Alerts
  readonly #replica: AccountReplica
  readonly #settlements: Settlements
  readonly #loader: AccountLoader
  readonly #refunds: Refunds
  readonly #reconciler: ProcessReconciler
  readonly #lost: LostHolds
  readonly #lostRows: LostRows
  readonly #configurations: Configurations
  readonly #past: PastAccounts
  readonly #membership: Membership
  readonly #decisions: Decisions
  readonly #admissions: Admissions

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
    const charges = this.#charges
    this.#replica = new AccountReplica({
      charges,
      ended: this.#ended,
      clock: this.#clock,
      alerts: this.#alerts,
    })
    const settlements = new Settlements({
      functions,
      charges,
      rowJournal: options.rowJournal,
      log,
      onFired: (fired) => {
        for (const [name, subject] of fired) this.#replica.follow([find(name)], [subject])
      },
    })
    this.#settlements = settlements
    this.#loader = new AccountLoader({ ...options, functions, clock: this.#clock })
    this.#refunds = new Refunds({ ...options, charges, settlements })
    const reconciler = new ProcessReconciler({
      ...options,
      functions,
      replica: this.#replica,
      load: (unseeded) => this.#decisions.load(unseeded),
    })
    this.#reconciler = reconciler
    const lostRows = new LostRows(options)
    this.#lostRows = lostRows
    this.#lost = new LostHolds({ ...options, charges, settlements, reconciler, rows: lostRows })
    const configurations = new Configurations({ functions, log })
    this.#configurations = configurations
    const past = new PastAccounts({ functions, find, clock: this.#clock })
    this.#past = past
    this.#membership = new Membership({
      ...options,
      functions,
      charges,
      settlements,
      configurations,
      past,
      holds: this.#holds,
      strays: new StrayHolds({ functions, charges, settlements, holds: this.#holds }),
      lost: this.#lost,
      reconciler,
      lostRows,
    })
    this.#decisions = new Decisions({
      functions,
      clock: options.clock,
      serverClock: this.#clock,
      replica: this.#replica,
      lost: this.#lost,
      loader: this.#loader,
      join: () => this.#membership.join(),
    })
    this.#admissions = new Admissions({
      ...options,
      serverClock: this.#clock,
      decisions: this.#decisions,
      functions,
      holds: this.#holds,
      settlements,
      ledger: new HoldEnds({
        alerts: this.#alerts,
        holds: this.#holds,
        ended: this.#ended,
        charges,
        settlements,
        extensions: new Extensions({
          ...options,
          serverClock: this.#clock,
          decisions: this.#decisions,
          functions,
          replica: this.#replica,
          holds: this.#holds,
          join: () => this.#membership.join(),
        }),
      }),
    })
  }

  /** Joins the other processes, now and whenever the server has been away. */
  start(): void {
    this.#membership.start()
  }

  now(): Millis {
    return this.#clock.now()
  }

  /** The server decides by the estimate, and counts requests itself. */
  needsEstimate(request: HitRequest): boolean {
    return hasEstimatedLimit(request)
  }

  admit(request: AdmissionRequest): Admission | Promise<Admission> {
    return request.accounts.some(isLimited)
      ? this.#admissions.admit(request)
      : this.#admissions.enter(request)
  }

  admitHit(request: HitRequest): Admission | Promise<Admission> {
    const isCounted = request.accounts.some(({ record }) => record.rpmLimit !== null)
    return isCounted ? this.#admissions.admitHit(request) : admitHit(request)
  }

  preview(request: PreviewRequest): void | Promise<void> {
    return request.accounts.some(isLimited) ? this.#admissions.preview(request) : undefined
  }

  /** Brings the accounts in memory up to date, if the server can be used. */
  async refresh(accounts: readonly AccountEntry[]): Promise<void> {
    for (let at = 0; at < accounts.length; at += maxPerCall) {
      const page = accounts.slice(at, at + maxPerCall)
      const isRead = await this.#decisions.read(page).catch((error: unknown) => {
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
    await this.#reconciler.idle()
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
}

function isLimited({ record }: AccountEntry): boolean {
  const { rpmLimit, tpmLimit, maxParallel, budgetMax } = record
  return rpmLimit !== null || tpmLimit !== null || maxParallel !== null || budgetMax !== null
}
