import type { Admission, UsageEstimate } from '../../src/core/admission.ts'
import { GatewayError } from '../../src/core/errors.ts'
import type { GroupId, KeyId, RequestId } from '../../src/core/ids.ts'
import type { Model } from '../../src/core/provider.ts'
import { unixSeconds } from '../../src/core/unix-seconds.ts'
import { usageRow } from '../store/support/rows.ts'
import type { MemoryJournal } from '../support/memory-journal.ts'
import { MemoryStore } from '../support/memory-store.ts'
import type { RedisServer } from '../support/redis.ts'
import { openSimulatedState, type SimulatedState } from '../support/simulated-redis.ts'
import { listProblems } from './killed-books.ts'
import { KillableProcess, type KillableWorld, leaseMs, untilDeath } from './killed-process.ts'
import { type KilledStep, type Layout, places } from './killed-step.ts'
import {
  createPricedModel,
  estimateDemand,
  type PricedDemand,
  priceUse,
  useOf,
} from './priced-model.ts'
import { askedFacts, getEntry, groupRow, keyRow, nano, RecordingLog, routeTo } from './support.ts'

export const keyIds = ['1', '2', '3'].map((digit) => digit.repeat(32) as KeyId)
const group = '9'.repeat(32) as GroupId
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
export class KilledWorld implements KillableWorld {
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
    await this.#pass(4 * leaseMs)
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
    return listProblems({
      store: this.store,
      processes: [...this.processes.values()],
      costs: this.#costs,
      answered: this.#answered,
      cut: this.#cut,
      listOnServer: (command, pattern) => this.#redis.command(command, pattern).split('\n'),
      prefix: this.#prefix,
    })
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
