import { BudgetEvents } from '../../src/accounting/budget-events.ts'
import {
  createRecovery,
  JournalWriter,
  nameProcess,
  SpendFlusher,
  UsageLog,
} from '../../src/accounting/index.ts'
import { KeyRegistry } from '../../src/accounting/key-registry.ts'
import { SharedLedger } from '../../src/accounting/shared/ledger.ts'
import {
  type BatchedCall,
  type SharedState,
  SharedStateFault,
} from '../../src/core/shared-state.ts'
import type { LeftUsage } from '../../src/store/index.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { MemoryJournal } from '../support/memory-journal.ts'
import type { MemoryStore } from '../support/memory-store.ts'
import type { SimulatedState } from '../support/simulated-redis.ts'
import { type KilledStep, type Layout, places } from './killed-step.ts'
import { RecordingLog } from './support.ts'

/** How long the holds of a process last without renewal, in milliseconds. */
export const leaseMs = 8_000

/** What processes have in common, and what happens to them. */
export interface KillableWorld {
  readonly store: MemoryStore
  readonly now: number
  readonly isUp: boolean
  readonly layout: Layout
  /** The running processes, by their place. */
  readonly processes: ReadonlyMap<string, KillableProcess>
  /** The journals of killed processes. */
  readonly left: readonly MemoryJournal[]
  kill(place: string): void
  announce(epoch: string): void
}

type Strike = Extract<KilledStep, { do: 'strike' }>

/** What can happen to one process. */
class Fate {
  readonly died: Promise<void>
  readonly #kill: () => void
  isDead = false
  /** It is killed at a call that runs: it keeps nothing any more. */
  isStruck = false
  strike: Strike | undefined
  #resolve = () => {}

  /** `kill` removes the process from the world. */
  constructor(kill: () => void) {
    this.#kill = kill
    this.died = new Promise((resolve) => {
      this.#resolve = resolve
    })
  }

  die(): void {
    this.isDead = true
    this.#resolve()
  }

  /**
   * Runs a call, unless the process is killed at it: then the call never ends. `call` tells when it is sent.
   */
  async run<Result>(name: string, call: (sent: () => void) => Promise<Result>): Promise<Result> {
    const strike = this.strike?.call === name ? this.strike : undefined
    if (strike?.when === 'before') this.#kill()
    if (this.isDead) return never
    let isSent = false
    const outcome = call(() => {
      isSent = true
      if (strike) this.isStruck = true
    })
    // A call whose reply is lost has run, too.
    await outcome.catch(() => {})
    if (strike && isSent) this.#kill()
    return this.isDead ? never : outcome
  }
}

const never = new Promise<never>(() => {})

/** The way of one process to the server. */
class Line implements SharedState {
  readonly #world: KillableWorld
  readonly #fate: Fate
  readonly #state: SimulatedState
  readonly #listeners: (() => void)[] = []
  readonly #receivers: ((epoch: string) => void)[] = []
  /** Only this process is cut off. */
  isStalled = false
  losesReplies = false

  constructor(world: KillableWorld, state: SimulatedState, fate: Fate) {
    this.#world = world
    this.#state = state
    this.#fate = fate
  }

  get isUp(): boolean {
    return this.#world.isUp && !this.isStalled
  }

  // Accounts use only batches.
  async call(): Promise<readonly string[]> {
    return []
  }

  batch(call: BatchedCall): Promise<readonly unknown[]> {
    return this.#fate.run(call.name, (sent) => {
      const args = () => {
        const taken = call.args()
        sent()
        return taken
      }
      return this.#send({ ...call, args })
    })
  }

  flush(): void {
    this.#state.flush()
  }

  async #send(call: BatchedCall): Promise<readonly unknown[]> {
    if (!this.isUp) throw new SharedStateFault('the server is away')
    const reply = await this.#state.batch(call)
    if (this.losesReplies) throw new SharedStateFault('the reply is lost', { mayHaveRun: true })
    if (call.name === 'open') this.#world.announce(String(reply[1]))
    return reply
  }

  async publish(): Promise<void> {}

  subscribe(channel: string, receive: (message: string) => void): void {
    if (channel === 'epoch') this.#receivers.push(receive)
  }

  receive(epoch: string): void {
    for (const receive of this.#receivers) receive(epoch)
  }

  onUp(listener: () => void): void {
    this.#listeners.push(listener)
  }

  get isSlow(): boolean {
    return this.isStalled || this.losesReplies
  }

  mend(): void {
    this.isStalled = false
    this.losesReplies = false
    for (const listener of this.#listeners) listener()
  }

  async close(): Promise<void> {}
}

/** The way of one process to the database. */
class SlowWay {
  /** How long each call waits before it runs. */
  delay = 0

  /** Returns the methods of a store. */
  to(store: MemoryStore, clock: ManualClock, fate: Fate): MemoryStore {
    return new Proxy(store, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name)
        if (typeof member !== 'function') return member
        return (...args: unknown[]) =>
          fate.run(String(name), async (sent) => {
            if (this.delay > 0) {
              await new Promise<void>((resolve) => clock.schedule(this.delay, resolve))
            }
            sent()
            return member.apply(target, args)
          })
      },
    })
  }
}

/** A journal that finds what killed processes have left in free places of its machine. */
class PlacedJournal extends MemoryJournal {
  readonly #world: KillableWorld
  readonly #fate: Fate

  constructor(world: KillableWorld, place: string, fate: Fate) {
    super(place)
    this.#world = world
    this.#fate = fate
  }

  override write(): void {
    if (!this.#fate.isDead && !this.#fate.isStruck) super.write()
  }

  override forget(batch: string): void {
    if (this.#fate.isDead) return
    super.forget(batch)
    for (const { batches } of this.#world.left) batches.delete(batch)
  }

  override async recover(): Promise<LeftUsage> {
    const { layout, processes } = this.#world
    const free = new Set(
      places
        .filter((place) => layout[place] === layout[this.place])
        .filter((place) => place === this.place || !processes.has(place)),
    )
    const left = this.#world.left.filter(({ place }) => free.has(place))
    const found = await Promise.all(
      left.map((journal) => MemoryJournal.prototype.recover.call(journal)),
    )
    return { batches: found.flatMap(({ batches }) => batches), torn: 0, free }
  }
}

/** A process with its accounts, which can be killed at any of its calls. */
export class KillableProcess {
  readonly clock: ManualClock
  readonly line: Line
  readonly way = new SlowWay()
  readonly fate: Fate
  readonly journal: PlacedJournal
  readonly id: string
  readonly log = new RecordingLog()
  readonly rowJournal: JournalWriter
  readonly usageLog: UsageLog
  readonly flusher: SpendFlusher
  readonly ledger: SharedLedger
  readonly accounts: KeyRegistry
  readonly recover: ReturnType<typeof createRecovery>

  constructor(world: KillableWorld, place: string, state: SimulatedState) {
    const { log } = this
    const clock = new ManualClock(world.now)
    this.clock = clock
    const fate = new Fate(() => world.kill(place))
    this.fate = fate
    const store = this.way.to(world.store, clock, fate)
    this.line = new Line(world, state, fate)
    this.journal = new PlacedJournal(world, place, fate)
    const { journal } = this
    this.id = nameProcess(journal)
    const process = this.id
    const rowJournal = new JournalWriter({ journal, clock, log, failed() {} })
    this.rowJournal = rowJournal
    this.usageLog = new UsageLog({
      store,
      rowJournal,
      process,
      clock,
      log,
      capacity: 100,
      batchMax: 10,
      flushAfter: 20_000,
      dropped() {},
      refund: (row, charge) => this.ledger.refund(row, charge),
    })
    const { usageLog } = this
    this.flusher = new SpendFlusher({
      store,
      rowJournal,
      process,
      clock,
      log,
      interval: 20_000,
      usageLog,
    })
    this.recover = createRecovery({ journal, store, log })
    this.ledger = new SharedLedger({
      state: this.line,
      process,
      onLoss: 'refuse',
      onLostHold: 'charge',
      lease: leaseMs,
      store,
      clock,
      log,
      events: new BudgetEvents({ clock, percentages: () => [], notify() {} }),
      find: (name) => this.accounts.find(name),
      recover: this.recover,
      rowJournal,
      addRow: (row) => usageLog.add(row),
    })
    this.accounts = new KeyRegistry({
      ledger: this.ledger,
      observer: this.ledger,
      reserveOutputTokens: () => 0,
    })
  }
}

/** Resolves to undefined when the process is killed before. */
export function untilDeath<Result>(
  { fate }: KillableProcess,
  work: Promise<Result>,
): Promise<Result | undefined> {
  return Promise.race([work, fate.died.then(() => undefined)])
}
