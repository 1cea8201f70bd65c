import { expect } from 'vitest'
import type { GroupEntry, KeyEntry } from '../../src/accounting/index.ts'
import { KeyRing, mintKey } from '../../src/auth/index.ts'
import type { Account } from '../../src/core/accounts.ts'
import type { Admission } from '../../src/core/admission.ts'
import { GatewayError } from '../../src/core/errors.ts'
import type { GroupId, KeyId } from '../../src/core/ids.ts'
import { type Clock, headerEntries } from '../../src/core/ports.ts'
import { unixSeconds } from '../../src/core/unix-seconds.ts'
import type { GroupRow, KeyRow, SpendAddition } from '../../src/store/index.ts'
import { usageRow } from '../store/support/rows.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { MemoryStore } from '../support/memory-store.ts'
import type { SimulatedState } from '../support/simulated-redis.ts'
import {
  audioPrice,
  earlyFactor,
  inputPrice,
  longPrompt,
  outputPrice,
  type PlainAdmission,
  PlainModel,
  pricePlainUse,
  priorityFactor,
  searchPrice,
} from './plain-model.ts'
import {
  createPricedModel,
  estimateDemand,
  type PricedDemand,
  priceUse,
  useOf,
} from './priced-model.ts'
import { reserveOutput, SimulatedProcess } from './simulated-process.ts'
import type { Step, UsedPart } from './simulation-step.ts'
import { askedFacts, groupRow, keyRow, nano, routeTo } from './support.ts'

const dayMs = 86_400_000
/** Half a minute before a day, a week and a month begin together. */
export const start = Date.UTC(2025, 11, 1) - 30_000
export const keyIds = ['1', '2', '3'].map((digit) => digit.repeat(32) as KeyId)
export const groupIds = ['8', '9'].map((digit) => digit.repeat(32) as GroupId)
const prices = {
  cost_per_1m_input: Number(inputPrice) / 1_000,
  cost_per_1m_output: Number(outputPrice) / 1_000,
  cost_per_1m_audio_input: Number(audioPrice) / 1_000,
  tool_costs_per_1k: { web_search: Number(searchPrice) / 1_000_000 },
}
const pricedModel = createPricedModel(prices, [
  { above_input: longPrompt, multiply: 2 },
  { tier: 'priority', multiply: Number(priorityFactor) },
  { hours: ['00:00-00:30'], multiply: Number(earlyFactor) },
])
const route = routeTo(pricedModel)

/** An admitted request. */
interface Open {
  readonly real: Admission
  readonly plain: PlainAdmission
  readonly demand: PricedDemand
  /** When it was admitted. */
  readonly since: number
  readonly account: Account
  readonly process: SimulatedProcess
  isRecorded: boolean
}

interface Asking {
  readonly process: SimulatedProcess
  readonly secret: string
  readonly model: string
  readonly demand: PricedDemand
}

/** Runs the same steps on accounts over a database and on the plain model. */
export class Simulation {
  readonly timers = new ManualClock(start)
  #ahead = 0
  /** Its wall clock also jumps over days, in which no timer fires. */
  readonly clock: Clock = {
    now: () => this.timers.now() + this.#ahead,
    elapsed: () => this.timers.elapsed(),
    schedule: (delay, fire) => this.timers.schedule(delay, fire),
  }
  readonly store = new MemoryStore()
  readonly processes: readonly SimulatedProcess[]
  readonly ring = new KeyRing<KeyEntry>()
  /** The secrets of each key, the newest first. */
  readonly #secrets = new Map<KeyId, string[]>()
  readonly model = new PlainModel(reserveOutput)
  readonly open: Open[] = []

  readonly #sharing: SimulatedState | undefined

  /** `sharing`: what the processes share; without it there is one process. */
  constructor(sharing?: SimulatedState) {
    this.#sharing = sharing
    const count = sharing ? 2 : 1
    this.processes = Array.from({ length: count }, () => this.#openProcess())
  }

  #openProcess(): SimulatedProcess {
    const { store, clock } = this
    return new SimulatedProcess({ store, clock, sharing: this.#sharing })
  }

  async begin(): Promise<void> {
    await this.#beginSharing()
    for (const id of groupIds) await this.store.createGroup(groupRow({ id, budgetMax: nano(300) }))
    for (const [index, id] of keyIds.entries()) {
      const { plaintext, digest } = mintKey()
      const groupId = groupIds[index] ?? null
      await this.store.createKey(
        keyRow({ id, digest, budgetMax: nano(200), tpmLimit: 300, groupId }),
      )
      this.#addSecret(id, plaintext, 0)
    }
    for (const row of this.store.keys.values()) this.model.keys.set(row.id, row)
    for (const row of this.store.groups.values()) this.model.groups.set(row.id, row)
    await this.#reload()
    for (const { shared } of this.processes) shared?.start()
    await this.#agree()
  }

  /** The server has had its data for long. */
  async #beginSharing(): Promise<void> {
    await this.#sharing?.setTime(this.clock.now() - 60_000)
    await this.#sharing?.batch({ name: 'open', args: () => ['first', 'epoch'] })
    await this.#sharing?.setTime(this.clock.now())
  }

  async #reload(): Promise<void> {
    const rows = await this.store.readAccounts()
    for (const { accounts } of this.processes) accounts.load(rows)
    for (const row of rows.keys) this.#putOnRing(row)
  }

  #putOnRing(row: KeyRow): void {
    const entry = this.processes[0]?.accounts.getKey(row.id)
    if (entry) this.ring.put(row, entry)
  }

  /** Lets every process learn what the others have done. */
  async #agree(): Promise<void> {
    const sharing = this.#sharing
    if (!sharing) return
    await sharing.setTime(this.clock.now())
    for (const { shared } of this.processes) await shared?.idle()
    sharing.rejoin()
    for (const { shared } of this.processes) await shared?.idle()
    for (const { accounts } of this.processes) {
      await accounts.refresh([...accounts.listKeys(), ...accounts.listGroups()])
    }
  }

  #addSecret(id: KeyId, secret: string, grace: number): void {
    this.#secrets.set(id, [secret, ...(this.#secrets.get(id) ?? [])])
    this.model.rotate(id, { secret, grace, now: unixSeconds(this.clock) })
  }

  async take(step: Step): Promise<void> {
    await this.#take(step)
    await this.#agree()
  }

  async #take(step: Step): Promise<void> {
    switch (step.do) {
      case 'admit':
        return this.#admit(step)
      case 'settle': {
        const admission = this.#pick(step.at)
        if (!admission) return
        const { real, plain } = this.#price(admission, step.use)
        admission.real.settle({ cost: nano(real), tokens: step.tokens })
        this.model.settle(admission.plain, plain, step.tokens)
        return
      }
      case 'withdraw': {
        const admission = this.#pick(step.at)
        admission?.real.withdraw()
        if (admission) this.model.withdraw(admission.plain)
        return
      }
      case 'adjust': {
        const admission = this.#pick(step.at)
        if (!admission || admission.isRecorded) return
        const { real, plain } = this.#price(admission, step.use)
        admission.real.adjust(nano(real))
        this.model.amend(admission.plain, plain)
        return
      }
      case 'record': {
        const admission = this.#pick(step.at)
        if (admission) this.#record(admission)
        return
      }
      case 'change key':
        this.#keyIs(await this.store.updateKey(step.key, step.change))
        return
      case 'change group':
        this.#groupIs(await this.store.updateGroup(step.group, step.change))
        return
      case 'change period': {
        const change = { budgetPeriod: { period: step.period, at: unixSeconds(this.clock) } }
        const { id } = step
        const row = keyIds.includes(id as KeyId)
          ? this.#keyIs(await this.store.updateKey(id as KeyId, change))
          : this.#groupIs(await this.store.updateGroup(id as GroupId, change))
        if (row) this.model.setPeriod(id, step.period, this.clock.now())
        return
      }
      case 'grant key':
        this.#keyIs(await this.store.grantKey(step.key, step.amount))
        return
      case 'grant group':
        this.#groupIs(await this.store.grantGroup(step.group, step.amount))
        return
      case 'rotate': {
        const { plaintext, digest } = mintKey()
        const { key, grace } = step
        const graceEndsAt = grace === 0 ? null : unixSeconds(this.clock) + grace
        const row = this.#keyIs(await this.store.rotateKey(key, { digest, graceEndsAt }))
        if (row) this.#addSecret(key, plaintext, grace)
        return
      }
      case 'delete key':
        this.#keyIs(await this.store.deleteKey(step.key, 1))
        return
      case 'delete group':
        this.#groupIs(await this.store.deleteGroup(step.group, 1))
        return
      case 'flush': {
        for (const { flusher } of this.processes) {
          if (!step.wait) void flusher.flush()
          else {
            this.store.trouble = step.trouble
            await flusher.flush()
            this.store.trouble = 'none'
          }
        }
        return
      }
      case 'reload':
        return this.#reload()
      case 'wait':
        return this.timers.advance(step.time)
      case 'jump': {
        const midnight = (Math.floor(this.clock.now() / dayMs) + step.days + 1) * dayMs
        this.#ahead += Math.max(0, midnight - 10_000 - this.clock.now())
        return
      }
    }
  }

  /** Prices an answer, by the call that is sent now. */
  #price({ demand, since: at }: Open, used: UsedPart) {
    const use = useOf(demand, used)
    const sentAt = this.clock.now()
    return {
      real: priceUse(pricedModel, demand, { use, at, sentAt }),
      plain: pricePlainUse(demand, use, sentAt),
    }
  }

  async #admit({ key, age, model: asked, demand }: Extract<Step, { do: 'admit' }>): Promise<void> {
    const minute = Math.floor(this.clock.now() / 60_000)
    const secret = this.#secrets.get(key)?.[age] ?? `sk-gw-${'0'.repeat(64)}`
    const since = this.clock.now()
    const plain = this.model.admit({ secret, model: asked, demand }, since)
    const process = this.#pickProcess(demand.prompt)
    const admitted = await this.#outcome(() => this.#ask({ process, secret, model: asked, demand }))
    if (typeof admitted === 'string' || typeof plain === 'string') {
      agree(admitted, plain)
      return
    }
    const { real, account } = admitted
    this.open.push({ real, plain, demand, since, account, process, isRecorded: false })
    const owners = plain.owners.map((name) => this.#getEntry(name, process))
    const least = (limit: 'rpmLimit' | 'tpmLimit', used: (window: string) => bigint) => {
      const left = owners.flatMap(({ record }) => {
        const max = record[limit]
        return max === null ? [] : [Math.max(0, max - Number(used(`${record.id} ${minute}`)))]
      })
      return left.length === 0 ? undefined : String(Math.min(...left))
    }
    const headers = new Map(headerEntries(real))
    agree(
      [headers.get('x-ratelimit-remaining-requests'), headers.get('x-ratelimit-remaining-tokens')],
      [
        least('rpmLimit', (window) => this.model.requests.of(window)),
        least('tpmLimit', (window) => this.model.tokens.of(window)),
      ],
    )
    for (const { spent, reserved, record } of owners) {
      const { budgetMax } = record
      if (budgetMax !== null) agree(spent + reserved <= budgetMax, true)
    }
  }

  /** Takes the steps of a request up to its admission, in their order. */
  async #ask({ process, secret, model: asked, demand }: Asking) {
    const headers = new Headers({ authorization: `Bearer ${secret}` })
    const { record } = this.ring.authenticate({ headers }, unixSeconds(this.clock))
    const caller = process.accounts.createPrincipal(this.#getEntry(record.id, process) as KeyEntry)
    if (!caller.mayUse(asked)) throw new GatewayError('LM-4005', 'the key may not use this model')
    const estimate = () => estimateDemand(demand, this.clock.now())
    const real = await caller.admit({ ...askedFacts, route, estimate })
    return { real, account: caller.account as Account } // A caller with a key has one.
  }

  #pickProcess(at: number): SimulatedProcess {
    const process = this.processes[at % this.processes.length]
    if (!process) throw new Error('there is no process')
    return process
  }

  #getEntry(id: string, { accounts }: SimulatedProcess): KeyEntry | GroupEntry {
    const entry = accounts.getKey(id as KeyId) ?? accounts.getGroup(id as GroupId)
    if (!entry) throw new Error(`there is no account ${id}`)
    return entry
  }

  async #outcome<Value>(attempt: () => Promise<Value>): Promise<Value | string> {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error
      return [error.code, error.detail.fields?.['scope']].filter(Boolean).join(' ')
    }
  }

  /** Adds the row of an ended request when its cost is final. */
  #record(open: Open): void {
    const { row } = open.plain
    if (!row || open.isRecorded) return
    open.isRecorded = true
    const { keyTerm, groupTerm } = open.real
    const requestId = String(this.open.indexOf(open))
    const terms = { keyTerm, groupTerm }
    open.process.usageLog.add({
      ...usageRow({ ...open.account, requestId, cost: nano(row.cost) }),
      ...terms,
    })
  }

  #pick(index: number) {
    return this.open.length === 0 ? undefined : this.open[index % this.open.length]
  }

  /** Puts a changed row everywhere. Returns it; undefined when the change was refused. */
  #keyIs(row: KeyRow | string): KeyRow | undefined {
    if (typeof row === 'string') return
    for (const { accounts } of this.processes) accounts.putKey(row)
    this.#putOnRing(row)
    this.model.keys.set(row.id, row)
    return row
  }

  #groupIs(row: GroupRow | string): GroupRow | undefined {
    if (typeof row === 'string') return
    for (const { accounts } of this.processes) accounts.putGroup(row)
    this.model.groups.set(row.id, row)
    return row
  }

  /** Checks that spend and rows in the database agree at this moment, as after a crash. */
  checkSaved(): void {
    const { usage } = this.store
    const flushed = [...this.store.flushes.values()].flatMap(({ additions }) => additions)
    for (const { id, budgetSpent, spentTotal, term } of [
      ...this.store.keys.values(),
      ...this.store.groups.values(),
    ]) {
      const rows = usage.filter((row) => id === row.keyId || id === row.groupId)
      const additions = flushed.filter((addition) => addition.id === id)
      agree(spentTotal, sumOf([...rows.map(({ cost }) => cost), ...additions.map(amountOf)]))
      const inTerm = rows.filter(({ requestId }) =>
        this.open[Number(requestId)]?.plain.terms.includes(`${id} since ${term.since}`),
      )
      const added = additions.filter((addition) => addition.term?.since === term.since)
      agree(
        budgetSpent,
        sumOf([
          ...inTerm.map(({ cost }) => cost),
          ...added.map(({ termAmount = 0n }) => termAmount),
        ]),
      )
    }
  }

  /** Checks every key and group against the model. */
  check(): void {
    const { model } = this
    const now = this.clock.now()
    const states = this.processes.flatMap(({ accounts }) => [
      ...accounts.listKeys(),
      ...accounts.listGroups(),
    ])
    for (const { record, spent, reserved, running } of states) {
      const term = model.termOf(record.id, now)
      agree(
        [spent, reserved, BigInt(running)],
        [model.spent.of(term), model.reserved.of(term), model.running.of(record.id)],
      )
    }
  }

  /** Ends everything and checks that nothing remains. */
  async end(): Promise<void> {
    for (const [index, open] of this.open.entries()) {
      const { real, plain } = open
      const cost = nano(index)
      if (index % 2 === 0) {
        real.settle({ cost, tokens: 1 })
        this.model.settle(plain, cost, 1)
      } else {
        real.withdraw()
        this.model.withdraw(plain)
      }
      this.#record(open)
    }
    await this.#agree()
    for (const { flusher } of this.processes) agree(await flusher.close(), { rows: 0, spend: 0n })
    this.check()
    this.checkSaved()
    for (const { shared } of this.processes) await shared?.close()
    await this.#sharing?.close()
    const { accounts: restarted, flusher } = new SimulatedProcess({
      store: this.store,
      clock: this.clock,
    })
    restarted.load(await this.store.readAccounts())
    await flusher.close()
    const { accounts } = this.#pickProcess(0)
    const live = [...accounts.listKeys(), ...accounts.listGroups()]
    const saved = [...restarted.listKeys(), ...restarted.listGroups()]
    for (const [at, { record, spent, spentTotal, reserved, running, term }] of live.entries()) {
      const rows = this.model.rows.filter(({ owners }) => owners.includes(record.id))
      agree([reserved, running], [0n, 0])
      agree(spentTotal, sumOf(rows.map(({ cost }) => cost)))
      const entry = saved[at]
      agree([entry?.spent, entry?.spentTotal], [spent, spentTotal])
      agree(entry?.term, term)
    }
    agree(this.timers.pending, 0)
  }
}

function sumOf(amounts: readonly bigint[]): bigint {
  return amounts.reduce((sum, amount) => sum + amount, 0n)
}

function amountOf({ amount }: SpendAddition): bigint {
  return amount
}

function agree(real: unknown, plain: unknown): void {
  expect(real).toEqual(plain)
}
