import { BudgetEvents } from '../../src/accounting/budget-events.ts'
import { noRowJournal } from '../../src/accounting/index.ts'
import { KeyRegistry } from '../../src/accounting/key-registry.ts'
import { createMemoryLedger } from '../../src/accounting/ledger.ts'
import { SharedLedger } from '../../src/accounting/shared/ledger.ts'
import { SpendFlusher } from '../../src/accounting/spend-flusher.ts'
import { UsageLog } from '../../src/accounting/usage-log.ts'
import type { Clock } from '../../src/core/ports.ts'
import type { MemoryStore } from '../support/memory-store.ts'
import type { SimulatedState } from '../support/simulated-redis.ts'
import { RecordingLog, RecordingObserver } from './support.ts'

/** The output tokens that are reserved for a request without a bound. */
export const reserveOutput = 20

interface ProcessOptions {
  readonly store: MemoryStore
  readonly clock: Clock
  readonly sharing?: SimulatedState | undefined
}

/** The accounts of one process, and its way to the database. */
export class SimulatedProcess {
  readonly shared: SharedLedger | undefined
  readonly accounts: KeyRegistry
  /** Its capacity is so small that rows are dropped. */
  readonly usageLog: UsageLog
  readonly flusher: SpendFlusher

  constructor({ store, clock, sharing }: ProcessOptions) {
    const log = new RecordingLog()
    const process = sharing && crypto.randomUUID()
    this.usageLog = new UsageLog({
      store,
      rowJournal: noRowJournal,
      process,
      clock,
      log,
      capacity: 3,
      batchMax: 2,
      flushAfter: 2_000,
      dropped: (row) => this.flusher.addDropped(row),
    })
    this.flusher = new SpendFlusher({
      store,
      rowJournal: noRowJournal,
      process,
      clock,
      log,
      interval: 30_000,
      usageLog: this.usageLog,
    })
    this.shared =
      sharing &&
      new SharedLedger({
        state: sharing,
        process: process ?? '',
        onLoss: 'refuse',
        onLostHold: 'charge',
        // Longer than any simulation.
        lease: 10_000_000_000_000,
        store,
        clock,
        log,
        events: new BudgetEvents({ clock, percentages: () => [], notify() {} }),
        find: (name) => this.accounts.find(name),
        recover: async () => [],
        rowJournal: noRowJournal,
        addRow: (row) => this.usageLog.add(row),
      })
    this.accounts = new KeyRegistry({
      ledger: this.shared ?? createMemoryLedger(clock),
      observer: this.shared ?? new RecordingObserver(),
      reserveOutputTokens: () => reserveOutput,
    })
  }
}
