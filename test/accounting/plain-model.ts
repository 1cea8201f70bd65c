import type { BudgetPeriod } from '../../src/core/budget-period.ts'
import type { GroupRow, KeyRow } from '../../src/store/index.ts'
import type { PricedDemand, PricedUse } from './priced-model.ts'

/** The prices in nano-dollars per token. */
export const inputPrice = 1n
export const outputPrice = 2n
/** Prompts that may have more tokens than this cost twice as much. */
export const longPrompt = 24
/** The factor of the priority tier. */
export const priorityFactor = 3n
/** Tokens of audio cost so much in place of the price of the prompt. */
export const audioPrice = 4n
/** A search. */
export const searchPrice = 7n
/** The factor of the first half hour of a day. */
export const earlyFactor = 2n

/** A request as its client sends it. */
export interface PlainRequest {
  readonly secret: string
  readonly model: string
  readonly demand: PricedDemand
}

/** The price of tokens and searches. */
function priceOf(
  { prompt, output, searches }: Pick<PricedUse, 'prompt' | 'output' | 'searches'>,
  { isLong, isPriority, isEarly, hasAudio }: PlainFacts,
): bigint {
  const factor =
    (isLong ? 2n : 1n) * (isPriority ? priorityFactor : 1n) * (isEarly ? earlyFactor : 1n)
  const tokens =
    BigInt(prompt) * (hasAudio ? audioPrice : inputPrice) + BigInt(output) * outputPrice
  return tokens * factor + BigInt(searches) * searchPrice
}

interface PlainFacts {
  readonly isLong: boolean
  readonly isPriority: boolean
  readonly isEarly: boolean
  readonly hasAudio: boolean
}

function isInWindow(at: number): boolean {
  return at % dayMs < dayMs / 48
}

/** The price of an answer to a request, whose call was sent at `sentAt`. */
export function pricePlainUse(demand: PricedDemand, use: PricedUse, sentAt: number): bigint {
  return priceOf(use, {
    isLong: use.prompt > longPrompt,
    isPriority: use.isAsked && demand.tier === 'priority',
    isEarly: isInWindow(sentAt),
    hasAudio: demand.hasAudio,
  })
}

/** Accounting in its simplest form: step by step, each undone when a later one refuses. */
export class PlainModel {
  readonly keys = new Map<string, KeyRow>()
  readonly groups = new Map<string, GroupRow>()
  /** By term, so that budgets need no reset. */
  readonly spent = new Tally()
  readonly reserved = new Tally()
  readonly running = new Tally()
  /** By key or group and minute, so that windows need no reset. */
  readonly requests = new Tally()
  readonly tokens = new Tally()
  readonly rows: PlainRow[] = []
  /** Every secret that a key has ever had. */
  readonly #secrets = new Map<string, PlainSecret>()
  readonly #terms = new Map<string, PlainTerm>()
  readonly #reserveOutput: number

  constructor(reserveOutput: number) {
    this.#reserveOutput = reserveOutput
  }

  admit({ secret, model, demand }: PlainRequest, now: number): PlainAdmission | string {
    const { prompt, output, choices, tier, hasAudio, searches } = demand
    const key = this.#findKey(secret, Math.floor(now / 1000))
    if (!key) return 'LM-4004'
    const group = key.groupId === null ? undefined : this.groups.get(key.groupId)
    const toOwner = (scope: 'key' | 'group', row: KeyRow | GroupRow): PlainOwner => ({
      scope,
      row,
      window: `${row.id} ${Math.floor(now / 60_000)}`,
      term: this.termOf(row.id, now),
    })
    const owners = [toOwner('key', key)]
    if (group && group.deletedAt === null) owners.push(toOwner('group', group))
    if (!owners.every(({ row }) => allows(row.models, model))) return 'LM-4005'
    const undo: (() => void)[] = []
    const take = (tally: Tally, name: string, amount: bigint) => {
      tally.add(name, amount)
      undo.push(() => tally.add(name, -amount))
    }
    const refused = (code: string) => {
      for (const step of undo) step()
      return code
    }

    for (const { scope, row, window } of owners) {
      if (row.rpmLimit === null) continue
      take(this.requests, window, 1n)
      if (this.requests.of(window) > row.rpmLimit) return refused(`LM-4002 ${scope}`)
    }
    const debit = BigInt(prompt + (output ?? 0))
    for (const { scope, row, window } of owners) {
      if (row.tpmLimit === null) continue
      take(this.tokens, window, debit)
      if (this.tokens.of(window) > row.tpmLimit) return refused(`LM-4003 ${scope}`)
    }
    for (const { scope, row } of owners) {
      take(this.running, row.id, 1n)
      if (row.maxParallel !== null && this.running.of(row.id) > row.maxParallel) {
        return refused(`LM-4006 ${scope}`)
      }
    }
    const minute = Math.floor(now / 60_000) * 60_000
    const cost = priceOf(
      { prompt, output: (output ?? this.#reserveOutput) * choices, searches: searches * choices },
      {
        // A prompt may have a quarter more tokens than its estimate.
        isLong: prompt * 1.25 > longPrompt,
        isPriority: tier === 'priority',
        // A call may be sent in the minute of the request, or in the two behind it.
        isEarly: [0, 1, 2].some((at) => isInWindow(minute + at * 60_000)),
        hasAudio,
      },
    )
    for (const { scope, row, term } of owners) {
      if (row.budgetMax === null) continue
      const isFull = this.spent.of(term) + this.reserved.of(term) >= row.budgetMax
      take(this.reserved, term, cost)
      if (isFull || this.spent.of(term) + this.reserved.of(term) > row.budgetMax) {
        return refused(`LM-4001 ${scope}`)
      }
    }
    return {
      debit,
      counted: owners.flatMap(({ row, window }) => (row.rpmLimit === null ? [] : [window])),
      debited: owners.flatMap(({ row, window }) => (row.tpmLimit === null ? [] : [window])),
      owners: owners.map(({ row }) => row.id),
      terms: owners.map(({ term }) => term),
      reserved: owners.flatMap(({ row, term }) =>
        row.budgetMax === null ? [] : [{ name: term, cost }],
      ),
      row: undefined,
      isOver: false,
    }
  }

  /** Gives a key a new secret. The last one works for `grace` seconds more, those before it no longer. */
  rotate(id: string, { secret, grace, now }: PlainRotation): void {
    for (const former of this.#secrets.values()) {
      if (former.id !== id) continue
      former.until = former.isLast ? now + grace : 0
      former.isLast = false
    }
    this.#secrets.set(secret, { id, until: Number.POSITIVE_INFINITY, isLast: true })
  }

  #findKey(secret: string, now: number): KeyRow | undefined {
    const { id = '', until = 0 } = this.#secrets.get(secret) ?? {}
    const key = this.keys.get(id)
    if (!key || now >= until || key.disabled || key.deletedAt !== null) return undefined
    return key.expiresAt !== null && now >= key.expiresAt ? undefined : key
  }

  /** Sets the period of a key or a group. */
  setPeriod(id: string, period: BudgetPeriod | null, now: number): void {
    const { since } = this.#findTerm(id, now)
    this.#terms.set(id, { period, since, end: calendarEnd(period, now) })
  }

  /** Returns the name of the present term of a key or a group: its id and when the term began. */
  termOf(id: string, now: number): string {
    return `${id} since ${this.#findTerm(id, now).since}`
  }

  #findTerm(id: string, now: number): PlainTerm {
    const term = this.#terms.get(id) ?? { period: null, since: 0, end: Number.POSITIVE_INFINITY }
    if (now < term.end) return term
    // Back from the end of the calendar period to its beginning, a day at a time.
    const end = calendarEnd(term.period, now)
    let since = Math.floor(now / dayMs) * dayMs
    while (calendarEnd(term.period, since - dayMs) === end) since -= dayMs
    const next = { period: term.period, since: since / 1000, end }
    this.#terms.set(id, next)
    return next
  }

  settle(admission: PlainAdmission, cost: bigint, tokens: number | undefined): void {
    if (admission.isOver) return
    this.#end(admission)
    admission.row = { owners: admission.owners, terms: admission.terms, cost }
    this.rows.push(admission.row)
    for (const term of admission.terms) this.spent.add(term, cost)
    if (tokens === undefined) return
    for (const window of admission.debited) {
      this.tokens.add(window, BigInt(tokens) - admission.debit)
    }
  }

  withdraw(admission: PlainAdmission): void {
    if (admission.isOver) return
    this.#end(admission)
    for (const window of admission.counted) this.requests.add(window, -1n)
    for (const window of admission.debited) this.tokens.add(window, -admission.debit)
  }

  amend({ row }: PlainAdmission, cost: bigint): void {
    if (!row) return
    for (const term of row.terms) this.spent.add(term, cost - row.cost)
    row.cost = cost
  }

  #end(admission: PlainAdmission): void {
    admission.isOver = true
    for (const name of admission.owners) this.running.add(name, -1n)
    for (const { name, cost } of admission.reserved) this.reserved.add(name, -cost)
  }
}

interface PlainSecret {
  readonly id: string
  /** Unix seconds. */
  until: number
  /** No later secret of the key exists. */
  isLast: boolean
}

/** Times are unix seconds. */
interface PlainRotation {
  readonly secret: string
  readonly grace: number
  readonly now: number
}

/** Whether a list of models allows an id, by a pattern over the whole id. */
function allows(models: readonly string[] | null, id: string): boolean {
  if (models === null) return true
  const patterns = models.map((one) => one.replaceAll('.', '\\.').replace(/\*$/, '.*'))
  return patterns.some((pattern) => new RegExp(`^${pattern}$`).test(id))
}

/** The key of a request, or its group. */
interface PlainOwner {
  readonly scope: 'key' | 'group'
  readonly row: KeyRow | GroupRow
  /** The name of its minute. */
  readonly window: string
  /** The name of its term. */
  readonly term: string
}

interface PlainTerm {
  readonly period: BudgetPeriod | null
  /** Unix seconds. */
  readonly since: number
  /** Unix milliseconds. */
  readonly end: number
}

const dayMs = 86_400_000

/** Returns the first midnight after `now` at which a period of the calendar ends. */
function calendarEnd(period: BudgetPeriod | null, now: number): number {
  if (period === null) return Number.POSITIVE_INFINITY
  for (let midnight = Math.floor(now / dayMs) * dayMs + dayMs; ; midnight += dayMs) {
    const date = new Date(midnight)
    const isEnd = { day: true, week: date.getUTCDay() === 1, month: date.getUTCDate() === 1 }
    if (isEnd[period]) return midnight
  }
}

interface PlainRow {
  readonly owners: readonly string[]
  readonly terms: readonly string[]
  cost: bigint
}

export interface PlainAdmission {
  readonly debit: bigint
  /** The windows that count the request, and those that its tokens are debited from. */
  readonly counted: readonly string[]
  readonly debited: readonly string[]
  readonly owners: readonly string[]
  /** The names of the terms that are charged. */
  readonly terms: readonly string[]
  readonly reserved: readonly { readonly name: string; readonly cost: bigint }[]
  row: PlainRow | undefined
  isOver: boolean
}

class Tally {
  readonly #amounts = new Map<string, bigint>()

  of(name: string): bigint {
    return this.#amounts.get(name) ?? 0n
  }

  add(name: string, amount: bigint): void {
    this.#amounts.set(name, this.of(name) + amount)
  }
}
