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
import type { Admission, UsageEstimate } from '../../src/core/admission.ts'
import { GatewayError } from '../../src/core/errors.ts'
import type { GroupId, KeyId, RequestId } from '../../src/core/ids.ts'
import type { Model } from '../../src/core/provider.ts'
import {
  type BatchedCall,
  type SharedState,
  SharedStateFault,
} from '../../src/core/shared-state.ts'
import { unixSeconds } from '../../src/core/unix-seconds.ts'
import type { LeftUsage } from '../../src/store/index.ts'
import { usageRow } from '../store/support/rows.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { MemoryJournal } from '../support/memory-journal.ts'
import { MemoryStore } from '../support/memory-store.ts'
import type { RedisServer } from '../support/redis.ts'
import { openSimulatedState, type SimulatedState } from '../support/simulated-redis.ts'
import {
  createPricedModel,
  estimateDemand,
  type PricedDemand,
  priceUse,
  useOf,
} from './priced-model.ts'
import { askedFacts, getEntry, groupRow, keyRow, nano, RecordingLog, routeTo } from './support.ts'

export const places = ['1', '2', '3']

/** The machine of each place. A process finds only the journals of its own machine. */
export type Layout = Readonly<Record<string, string>>

export const layouts = {
  oneMachine: { 1: 'a', 2: 'a', 3: 'a' },
  twoMachines: { 1: 'a', 2: 'b', 3: 'b' },
  threeMachines: { 1: 'a', 2: 'b', 3: 'c' },
} as const satisfies Readonly<Record<string, Layout>>

export const keyIds = ['1', '2', '3'].map((digit) => digit.repeat(32) as KeyId)
const group = '9'.repeat(32) as GroupId
const lease = 8_000
/** 1,000 nano-dollars a token of a short prompt. The world begins at 16:00 UTC, and a window a minute later. */
const model = createPricedModel(
  {
    cost_per_1m_input: 1,
    cost_per_1m_output: 2,
    cost_per_1m_audio_input: 3,
    tool_costs_per_1k: { web_search: 0.002 },
  },
  [
    { above_input: 20, multiply: 1.5 },
    { tier: 'priority', multiply: 2 },
    { tier: 'priority', hours: ['16:01-16:03'], multiply: 1.25 },
  ],
)

/** A step of a history; `at` picks one of the running requests. */
export type KilledStep =
  | {
      readonly do: 'admit'
      readonly place: string
      readonly key: KeyId
      /** Of the prompt. */
      readonly tokens: number
      readonly more?: Partial<PricedDemand>
    }
  /** `percent` of what the request allows, by a call that was sent so many milliseconds after its arrival. */
  | {
      readonly do: 'settle'
      readonly at: number
      readonly percent: number
      readonly isAsked?: boolean
      readonly delay?: number
    }
  /** An attempt fails that is charged; `percent` as above. Without room for another one the request ends. */
  | { readonly do: 'fail'; readonly at: number; readonly percent: number }
  | { readonly do: 'kill' | 'open' | 'save'; readonly place: string }
  /** Until `mend` the process cannot reach the server, or does not get its replies. */
  | { readonly do: 'stall' | 'lose'; readonly place: string }
  /** Until `mend` the database runs the calls of the process only some time later. */
  | { readonly do: 'drag'; readonly place: string; readonly time: number }
  /** Kills the process at its next call with this name: before the call has run, or just after. */
  | {
      readonly do: 'strike'
      readonly place: string
      readonly call: string
      readonly when: 'before' | 'after'
    }
  /** The server is away, until `mend`. */
  | { readonly do: 'cut' }
  | { readonly do: 'mend' }
  /** Takes a snapshot of the server's data, and brings it back: the processes connect again. */
  | { readonly do: 'remember' }
  | { readonly do: 'go back'; readonly unnoticed?: boolean }
  /** The server loses its data: only when no process is slow, unless `evenSo`. */
  | { readonly do: 'empty'; readonly evenSo?: boolean }
  | { readonly do: 'wait'; readonly time: number }

const takeSnapshot = `
  redis.call('DEL', 'snapshot-' .. ARGV[2])
  for _, key in ipairs(redis.call('KEYS', ARGV[1] .. '*')) do
    redis.call('HSET', 'snapshot-' .. ARGV[2], key, redis.call('DUMP', key))
  end`

const bringSnapshot = `
  for _, key in ipairs(redis.call('KEYS', ARGV[1] .. '*')) do redis.call('DEL', key) end
  local kept = redis.call('HGETALL', 'snapshot-' .. ARGV[2])
  for at = 1, #kept, 2 do redis.call('RESTORE', kept[at], 0, kept[at + 1]) end`

interface Running {
  readonly id: RequestId
  readonly key: KeyId
  readonly demand: PricedDemand
  readonly since: number
  /** What attempts have cost that have failed. */
  failed: bigint
  readonly admission: Admission
  readonly process: KillableProcess
  /** The server has lost its data since. */
  isForgotten: boolean
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
  readonly #world: KilledWorld
  readonly #fate: Fate
  readonly #state: SimulatedState
  readonly #listeners: (() => void)[] = []
  readonly #receivers: ((epoch: string) => void)[] = []
  /** Only this process is cut off. */
  isStalled = false
  losesReplies = false

  constructor(world: KilledWorld, state: SimulatedState, fate: Fate) {
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
  readonly #world: KilledWorld
  readonly #fate: Fate

  constructor(world: KilledWorld, place: string, fate: Fate) {
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

class KillableProcess {
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

  constructor(world: KilledWorld, place: string, state: SimulatedState) {
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
      lease,
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

/** Changes what a request reserves, and not what its answer costs. */
export type ReserveAs = (model: Model, estimate: UsageEstimate) => readonly [Model, UsageEstimate]

export interface WorldOptions {
  readonly redis: RedisServer
  readonly prefix: string
  readonly layout: Layout
  readonly reserveAs?: ReserveAs
}

const short: PricedDemand = {
  prompt: 0,
  output: 0,
  choices: 1,
  tier: undefined,
  hasAudio: false,
  searches: 0,
}

/** The most that an answer costs: its call was sent when the window had begun. */
const all = { percent: 100, isAsked: true, delay: 60_000 } as const

/** Processes on one database and one server. They are killed and opened again, and the server is away. */
export class KilledWorld {
  readonly store = new MemoryStore()
  /** The running processes, by their place. */
  readonly processes = new Map<string, KillableProcess>()
  /** The journals of killed processes. */
  readonly left: MemoryJournal[] = []
  now = 1_764_000_000_000
  isUp = true
  readonly layout: Layout
  readonly #redis: RedisServer
  readonly #prefix: string
  readonly #reserveAs: ReserveAs
  readonly #state: SimulatedState
  #running: Running[] = []
  /** What requests cost that have ended in a process or were refused. */
  readonly #costs = new Map<string, bigint>()
  /** Those whose client has seen the end. */
  readonly #answered = new Set<string>()
  /** Those that ran or ended in a process when that was killed, and whose hold the server had. */
  readonly #cut = new Set<string>()
  /** The server has lost its data, and no process has noticed. */
  #isEmpty = false
  #lastRequest = 0

  private constructor(
    { redis, prefix, layout, reserveAs = (...given) => given }: WorldOptions,
    state: SimulatedState,
  ) {
    this.#reserveAs = reserveAs
    this.layout = layout
    this.#redis = redis
    this.#prefix = prefix
    this.#state = state
  }

  static async open(options: WorldOptions): Promise<KilledWorld> {
    const state = await openSimulatedState(options.redis, options.prefix, new RecordingLog())
    const world = new KilledWorld(options, state)
    await state.setTime(world.now - 60_000)
    await state.batch({ name: 'open', args: () => ['first', 'epoch'] })
    await world.#advance(0)
    const { store } = world
    await store.createGroup(groupRow({ id: group, budgetMax: nano(60_000) }))
    for (const [index, id] of keyIds.entries()) {
      const budgetMax = index === 2 ? null : nano(50_000)
      // So its ends are sent at once.
      const maxParallel = index === 2 ? 100 : null
      await store.createKey(
        keyRow({ id, digest: id, groupId: index === 1 ? null : group, budgetMax, maxParallel }),
      )
    }
    for (const place of places) await world.#open(place)
    return world
  }

  async take(step: KilledStep): Promise<void> {
    switch (step.do) {
      case 'admit':
        return this.#admit(step)
      case 'settle': {
        const [running] = this.#running.splice(step.at % Math.max(1, this.#running.length), 1)
        if (running) await this.#settle(running, this.#price(running, step))
        return this.#rest()
      }
      case 'fail':
        await this.#fail(step)
        return this.#rest()
      case 'kill':
        return this.kill(step.place)
      case 'open':
        return this.#open(step.place)
      case 'cut':
        this.isUp = false
        return
      case 'stall':
      case 'lose': {
        // As above: it has not brought its part yet.
        if (this.#isEmpty) return
        const line = this.processes.get(step.place)?.line
        if (line) line[step.do === 'stall' ? 'isStalled' : 'losesReplies'] = true
        return
      }
      case 'drag': {
        const way = this.processes.get(step.place)?.way
        if (way) way.delay = step.time
        return
      }
      case 'strike': {
        const fate = this.processes.get(step.place)?.fate
        if (fate) fate.strike = step
        return
      }
      case 'mend':
        for (const { way } of this.processes.values()) way.delay = 0
        if (this.isUp && !this.#hasSlow()) return
        this.isUp = true
        for (const { line } of this.processes.values()) line.mend()
        return this.#rest()
      case 'empty': {
        // What only a process knows that is cut off cannot be known to the others.
        if (this.#hasSlow() && !step.evenSo) return
        this.#isEmpty = true
        const script =
          "for _, key in ipairs(redis.call('KEYS', ARGV[1])) do redis.call('DEL', key) end"
        this.#redis.command('EVAL', script, '0', `{${this.#prefix}}:*`)
        // Nobody knows what ended processes have held, nor may a running one live to tell.
        this.#cut.clear()
        for (const running of this.#running) running.isForgotten = true
        return
      }
      case 'remember':
        this.#redis.command('EVAL', takeSnapshot, '0', `{${this.#prefix}}:`, this.#prefix)
        return
      case 'go back':
        this.#redis.command('EVAL', bringSnapshot, '0', `{${this.#prefix}}:`, this.#prefix)
        if (step.unnoticed) return
        for (const { line } of this.processes.values()) line.mend()
        return this.#rest()
      case 'save': {
        const process = this.processes.get(step.place)
        if (process) await this.#meanwhile(untilDeath(process, process.flusher.flush()))
        return
      }
      case 'wait':
        return this.#pass(step.time)
    }
  }

  /** Tells every process of a new life of the data. */
  announce(epoch: string): void {
    this.#isEmpty = false
    for (const { line } of this.processes.values()) line.receive(epoch)
  }

  /** Lets everything end that can, with all processes running. */
  async end(): Promise<void> {
    for (const { fate } of this.processes.values()) fate.strike = undefined
    await this.take({ do: 'mend' })
    for (const place of places) await this.#open(place)
    for (const running of this.#running.splice(0)) {
      await this.#settle(running, this.#price(running, all))
    }
    // The leases end, then the claims on them; processes that have ended are forgotten.
    await this.#pass(4 * lease)
    for (const { flusher } of this.processes.values()) await flusher.flush()
    await this.#refresh()
    // A hold whose charge another machine may have remains for a quarter of an hour.
    if (this.#holdsSomething()) {
      await this.#pass(16 * 60_000)
      await this.#refresh()
    }
    for (const { ledger, flusher } of this.processes.values()) {
      await ledger.close()
      await flusher.close()
    }
  }

  /** Returns what the server still holds of each key and group for requests. */
  async listHeld(): Promise<string[]> {
    await this.#refresh()
    const [process] = this.processes.values()
    const accounts = process
      ? [...process.accounts.listKeys(), ...process.accounts.listGroups()]
      : []
    return accounts.flatMap(({ record, reserved, running }) =>
      reserved > 0n || running > 0 ? [`${record.id}: ${reserved}, ${running}`] : [],
    )
  }

  /** Returns what is wrong with the books. */
  listProblems(): string[] {
    const problems: string[] = []
    const check = (what: string, real: unknown, right: unknown) => {
      if (real !== right) problems.push(`${what}: ${real} instead of ${right}`)
    }
    const { store } = this
    for (const { id, spentTotal, budgetMax } of [
      ...store.keys.values(),
      ...store.groups.values(),
    ]) {
      const rows = store.usage.filter(({ keyId, groupId }) => keyId === id || groupId === id)
      const sum = rows.reduce((total, { cost }) => total + cost, 0n)
      check(`saved spend of ${id}`, spentTotal, sum)
      if (budgetMax !== null && sum > budgetMax) problems.push(`${id} has passed its cap: ${sum}`)
      for (const process of this.processes.values()) {
        const account =
          process.accounts.getKey(id as KeyId) ?? process.accounts.getGroup(id as GroupId)
        check(`spend of ${id} in ${process.id}`, account?.spentTotal, sum)
        check(`reserved of ${id} in ${process.id}`, account?.reserved, 0n)
        check(`running of ${id} in ${process.id}`, account?.running, 0)
      }
    }
    for (const id of new Set([
      ...this.#answered,
      ...this.#cut,
      ...store.usage.map((row) => row.requestId),
    ])) {
      const rows = store.usage.filter(({ requestId }) => requestId === id)
      const own = rows.filter(({ errorCode }) => errorCode !== 'LM-6002')
      const sum = rows.reduce((total, { cost }) => total + cost, 0n)
      if (this.#answered.has(id)) check(`rows of ${id}`, own.length, 1)
      if (own.length > 0) check(`cost of ${id}`, sum, this.#costs.get(id))
      else check(`charges of ${id}`, rows.filter((row) => row.cost > 0n).length, 1)
    }
    const running = new Set([...this.processes.values()].map(({ id }) => id))
    for (const { log } of this.processes.values()) {
      for (const { level, message, fields } of log.lines) {
        if (level === 'error') problems.push(`${message}: ${JSON.stringify(fields)}`)
      }
    }
    for (const name of this.#redis.command('KEYS', `{${this.#prefix}}:*:by`).split('\n')) {
      for (const process of this.#redis.command('HKEYS', name).split('\n')) {
        if (process && !running.has(process)) problems.push(`the server remembers ${process}`)
      }
    }
    return problems
  }

  async #refresh(): Promise<void> {
    await this.#rest()
    for (const { accounts } of this.processes.values()) {
      await this.#meanwhile(accounts.refresh([...accounts.listKeys(), ...accounts.listGroups()]))
    }
  }

  #holdsSomething(): boolean {
    return [...this.processes.values()].some(({ accounts }) =>
      [...accounts.listKeys(), ...accounts.listGroups()].some(({ reserved }) => reserved > 0n),
    )
  }

  #hasSlow(): boolean {
    return [...this.processes.values()].some(({ line }) => line.isSlow)
  }

  async #open(place: string): Promise<void> {
    if (this.processes.has(place)) return
    const process = new KillableProcess(this, place, this.#state)
    this.processes.set(place, process)
    await process.recover()
    process.accounts.load(await this.store.readAccounts())
    process.ledger.start()
    await this.#rest()
  }

  kill(place: string): void {
    const process = this.processes.get(place)
    if (!process) return
    process.fate.die()
    this.processes.delete(place)
    this.left.push(process.journal)
    for (const running of this.#running) {
      if (running.process === process && !running.isForgotten) this.#cut.add(running.id)
    }
    this.#running = this.#running.filter((running) => running.process !== process)
  }

  async #admit({ place, key, tokens, more }: Extract<KilledStep, { do: 'admit' }>): Promise<void> {
    const process = this.processes.get(place)
    if (!process) return
    const id = `request-${++this.#lastRequest}` as RequestId
    const caller = process.accounts.createPrincipal(getEntry(process.accounts, key))
    const demand = { ...short, ...more, prompt: tokens }
    const since = this.now
    const [reserved, estimate] = this.#reserveAs(model, estimateDemand(demand, since))
    const ask = { ...askedFacts, id, route: routeTo(reserved), estimate: () => estimate }
    try {
      const asking = Promise.resolve(caller.admit(ask))
      const admission = await this.#meanwhile(untilDeath(process, asking))
      if (!admission) return
      const running = { id, key, demand, since, admission, process }
      this.#running.push({ ...running, failed: 0n, isForgotten: false })
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error
      await this.#record({ id, key, process }, 0n)
    }
    await this.#rest()
  }

  #price(
    { demand, since: at }: Running,
    {
      percent,
      isAsked = true,
      delay = 0,
    }: Omit<Extract<KilledStep, { do: 'settle' }>, 'do' | 'at'>,
  ): bigint {
    const use = useOf(demand, { percent, isAsked })
    return priceUse(model, demand, { use, at, sentAt: at + delay })
  }

  async #fail({ at, percent }: Extract<KilledStep, { do: 'fail' }>): Promise<void> {
    const running = this.#running[at % Math.max(1, this.#running.length)]
    if (!running) return
    const { process, admission } = running
    const cost = this.#price(running, { percent })
    const asking = Promise.resolve(admission.extend(nano(cost)))
    const extension = await this.#meanwhile(untilDeath(process, asking))
    if (extension === undefined) return
    if (extension === 'reserved') {
      running.failed += cost
      return
    }
    this.#running = this.#running.filter((other) => other !== running)
    await this.#settle(running, cost)
  }

  async #settle({ id, key, admission, process, isForgotten, failed }: Running, last: bigint) {
    const cost = failed + last
    if (!isForgotten) this.#cut.add(id)
    admission.settle({ cost: nano(cost), tokens: 1 })
    await this.#record({ id, key, process }, cost)
  }

  async #record({ id, key, process }: Pick<Running, 'id' | 'key' | 'process'>, cost: bigint) {
    this.#costs.set(id, cost)
    const { usageLog, rowJournal, clock, fate } = process
    const groupId = this.store.keys.get(key)?.groupId ?? null
    const ts = unixSeconds(clock)
    usageLog.add(usageRow({ ts, requestId: id, keyId: key, groupId, cost: nano(cost) }))
    await rowJournal.durable
    // The client of a process that was killed at that has seen no answer.
    if (!fate.isDead && !fate.isStruck) this.#answered.add(id)
  }

  /** Waits until the processes have nothing to do. */
  async #rest(): Promise<void> {
    await this.#meanwhile(
      Promise.all([...this.processes.values()].map((each) => untilDeath(each, each.ledger.idle()))),
    )
  }

  async #pass(time: number): Promise<void> {
    for (let passed = 0; passed < time; passed += 500) {
      await this.#advance(Math.min(500, time - passed))
      await this.#rest()
    }
  }

  /** Lets time pass while something waits for it. */
  async #meanwhile<Result>(work: Promise<Result> | Result): Promise<Result> {
    const progress = { isDone: false }
    const end = () => {
      progress.isDone = true
    }
    Promise.resolve(work).then(end, end)
    while (!progress.isDone) {
      await new Promise((resolve) => setImmediate(resolve))
      if (!progress.isDone) await this.#advance(5)
    }
    return work
  }

  async #advance(time: number): Promise<void> {
    this.now += time
    await this.#state.setTime(this.now)
    for (const { clock } of this.processes.values()) await clock.advance(time)
  }
}

/** Resolves to undefined when the process is killed before. */
function untilDeath<Result>(
  { fate }: KillableProcess,
  work: Promise<Result>,
): Promise<Result | undefined> {
  return Promise.race([work, fate.died.then(() => undefined)])
}
