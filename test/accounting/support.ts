import type { KeyEntry } from '../../src/accounting/account-entry.ts'
import type { BudgetObserver, BudgetSubject } from '../../src/accounting/budget-observer.ts'
import { KeyRegistry } from '../../src/accounting/key-registry.ts'
import { createMemoryLedger } from '../../src/accounting/ledger.ts'
import type { Admission, UsageEstimate } from '../../src/core/admission.ts'
import { periodEnd } from '../../src/core/budget-period.ts'
import type { OutputEstimate } from '../../src/core/chat.ts'
import { GatewayError } from '../../src/core/errors.ts'
import type { GroupId, KeyId, NanoUsd, RequestId } from '../../src/core/ids.ts'
import {
  type HeaderList,
  headerEntries,
  headerList,
  type Log,
  type LogLevel,
} from '../../src/core/ports.ts'
import type { Prices } from '../../src/core/prices.ts'
import type { Model } from '../../src/core/provider.ts'
import type { ModelRoute } from '../../src/core/route.ts'
import type { GroupRow, KeyRow } from '../../src/store/index.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { unlimited } from '../support/unlimited.ts'

export const usd = (dollars: number) => BigInt(Math.round(dollars * 1e9)) as NanoUsd
export const nano = (amount: number | bigint) => BigInt(amount) as NanoUsd

export const keyId = 'a'.repeat(32) as KeyId
export const groupId = 'b'.repeat(32) as GroupId

/** Returns a key without limits except the given ones. */
export function keyRow(row: Partial<KeyRow> = {}): KeyRow {
  return {
    id: keyId,
    name: 'a key',
    groupId: null,
    ...unlimited,
    expiresAt: null,
    disabled: false,
    graceEndsAt: null,
    formerDigest: null,
    createdAt: 1_764_000_000,
    deletedAt: null,
    digest: 'd'.repeat(64),
    ...spentOf(row),
    ...row,
  }
}

/** The first term of a row, which ends as a new row's does. */
function spentOf({
  budgetPeriod: period = null,
  budgetSpent = nano(0),
}: Partial<GroupRow | KeyRow>) {
  const resetsAt = period === null ? null : periodEnd(period, 1_764_000_000)
  return { budgetSpent, spentTotal: budgetSpent, term: { period, since: 0, resetsAt } }
}

/** Returns a group without a cap, with the given members. */
export function groupRow(row: Partial<GroupRow> = {}): GroupRow {
  return {
    id: groupId,
    name: 'a group',
    ...unlimited,
    createdAt: 1_764_000_000,
    deletedAt: null,
    ...spentOf(row),
    ...row,
  }
}

export const freeOfCharge: Prices = {
  input: nano(0),
  output: nano(0),
  cachedInput: nano(0),
  cacheWrite: nano(0),
  cacheWrite1h: nano(0),
  searches: nano(0),
}

/** A link of a chain with only the members that accounting reads. */
export function link(prices: Partial<Prices>, model: Partial<Model> = {}): Model {
  const merged = { prices: { ...freeOfCharge, ...prices }, maxOutputTokens: undefined, ...model }
  return { id: 'm', provider: { name: 'p' }, ...merged } as Model
}

/** One dollar per million prompt tokens: a token costs 1,000 nano-dollars. */
export const dollarModel = link({ input: usd(1) })

/** The output estimate of a request with this maximum; undefined: without one. */
export function writing(maxTokens: number | undefined, choices = 1): OutputEstimate {
  return { maxTokens: maxTokens ?? 0, isBounded: maxTokens !== undefined, choices }
}

export const routeTo = (...chain: [Model, ...Model[]]): ModelRoute => ({
  ...chain[0],
  chain,
  balance: undefined,
})

/** Records its calls with the state of the subject at that moment. */
export class RecordingObserver implements BudgetObserver {
  readonly calls: unknown[] = []

  readonly charged = this.#note('charged')
  readonly refused = this.#note('refused')
  readonly admitted = () => {}
  readonly changed = this.#note('changed')
  readonly turned = this.#note('turned')
  readonly loaded = this.#note('loaded')

  #note(of: keyof BudgetObserver) {
    return ({ scope, record: { id, name, budgetMax }, spent }: BudgetSubject): void => {
      this.calls.push({ of, scope, id, name, budgetMax, spent })
    }
  }
}

/** Records its lines. */
export class RecordingLog implements Log {
  readonly lines: { level: LogLevel; message: string; fields: unknown }[] = []

  enabled(): boolean {
    return true
  }

  write(level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>): void {
    this.lines.push({ level, message, fields })
  }
}

/** A registry with the given key and, if given, the group. */
export function registryWith(key: Partial<KeyRow>, group?: Partial<GroupRow>) {
  const clock = new ManualClock()
  const watch = new RecordingObserver()
  const accounts = new KeyRegistry({
    ledger: createMemoryLedger(clock),
    observer: watch,
    reserveOutputTokens: () => 256,
  })
  accounts.load({
    keys: [keyRow({ groupId: group ? groupId : null, ...key })],
    groups: group ? [groupRow(group)] : [],
  })
  return { accounts, clock, watch, entry: getEntry(accounts), group: accounts.getGroup(groupId) }
}

export function getEntry(accounts: KeyRegistry, id = keyId): KeyEntry {
  const entry = accounts.getKey(id)
  if (!entry) throw new Error(`there is no key ${id}`)
  return entry
}

/** What an admission notes of its request. */
export const askedFacts = { id: 'r' as RequestId, api: 'chat', stream: false } as const

export interface Asking {
  readonly demand?: UsageEstimate
  readonly route?: ModelRoute
  readonly id?: KeyId
}

/**
 * Admits a request of `tokens` prompt tokens at a dollar per million, unless options say otherwise.
 */
export function admitRequest(
  accounts: KeyRegistry,
  tokens: number,
  asking: Asking = {},
): Admission {
  const { demand = { promptTokens: tokens }, route = routeTo(dollarModel), id = keyId } = asking
  const ask = { ...askedFacts, route, estimate: () => demand }
  // The ledger in memory admits at once.
  return accounts.createPrincipal(getEntry(accounts, id)).admit(ask) as Admission
}

/** Returns the error of a refused request. */
export function refusal(attempt: () => unknown): GatewayError {
  try {
    attempt()
  } catch (error) {
    if (error instanceof GatewayError) return error
    throw error
  }
  throw new Error('nothing was refused')
}

/** Returns the headers by name. */
export function named(headers: HeaderList = headerList({})): Readonly<Record<string, string>> {
  return Object.fromEntries(headerEntries({ headers }))
}
