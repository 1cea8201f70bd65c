import type { BudgetGroup } from '../../src/core/accounts.ts'
import type { AuditEntry } from '../../src/core/audit.ts'
import { readBill, writeBill } from '../../src/core/bill.ts'
import { type BudgetTerm, periodEnd, periodStart } from '../../src/core/budget-period.ts'
import type { GroupId, KeyId, NanoUsd } from '../../src/core/ids.ts'
import {
  type AccountRows,
  type AuditedStore,
  type AuditQuery,
  type AuditRow,
  auditedMethods,
  type ChangeCounts,
  type GrantError,
  type GroupChange,
  type GroupRow,
  type Journal,
  type KeyChange,
  type KeyRow,
  type LostCharge,
  type LostLookup,
  maxBudget,
  type NewKey,
  type NewUsageRow,
  type ProcessShare,
  type RefusedBatch,
  type RefusedRow,
  type RepricedRow,
  type RequestFilter,
  type RequestListQuery,
  type RequestPage,
  type RequestRow,
  type Rotation,
  refusedKept,
  type SavedSpend,
  type SealedPurpose,
  type SealedRow,
  type SpendFlush,
  type SpendShare,
  type SpendText,
  type Store,
  StoreFault,
  type SubjectSpend,
  startOfInterval,
  type UsageBatch,
  type UsageFilter,
  type UsageFindings,
  type UsageFindQuery,
  type UsageGrouping,
  type UsageIntervalQuery,
  type UsageIntervalSum,
  type UsageListQuery,
  type UsageRequest,
  type UsageRow,
  type UsageSum,
  type UsageSumQuery,
  type WebhookRow,
} from '../../src/store/index.ts'
import { joinAmount } from '../../src/store/money.ts'
import { spendText } from '../../src/store/spend-text.ts'

/**
 * The fault to inject: `none` executes calls, `refuse` fails them without a change, and
 * `lose-answer` executes them but reports a failure to the caller.
 */
export type StoreTrouble = 'none' | 'refuse' | 'lose-answer'

/** A database in memory with the same rules. Tests can inspect its rows and inject faults. */
export class MemoryStore implements Store {
  journal: Journal | undefined
  readonly keys = new Map<string, KeyRow>()
  readonly groups = new Map<string, GroupRow>()
  readonly usage: UsageRow[] = []
  /** The rows of refused requests. */
  readonly refused: (RefusedRow & { readonly id: number })[] = []
  readonly audit: AuditRow[] = []
  readonly flushes = new Map<string, SpendFlush>()
  readonly batches = new Map<string, readonly NewUsageRow[]>()
  /** The texts of the prices that rows name, by their ids. */
  readonly prices = new Map<string, string>()
  /** The names of all calls, including failed ones. */
  readonly calls: string[] = []
  /** The number of rows that `readAccounts` has returned. */
  readRows = 0
  trouble: StoreTrouble = 'none'
  closed = false
  readonly #shares = new Map<string, Map<string, SpendShare>>()
  readonly #sealed = new Map<string, SealedRow>()
  #webhooks: WebhookRow | undefined
  /** The count of accounts at the last change of each. */
  readonly #changedAt = new Map<string, number>()
  readonly #changes = { accounts: 0, 'provider-keys': 0, webhooks: 0 }
  #lastUsageId = 0
  #lastAuditId = 0
  #lastRefusedId = 0
  readonly #refusedBatches = new Set<string>()
  #turn: Promise<unknown> = Promise.resolve()
  #gate: Promise<void> = Promise.resolve()

  /** Suspends further calls until the returned function is called. */
  hold(): () => void {
    let release = () => {}
    this.#gate = new Promise((resolve) => {
      release = resolve
    })
    return () => release()
  }

  /** Replaces the keys, as a backup does that was made before any change. */
  restore(change: (row: KeyRow) => KeyRow): void {
    for (const [id, row] of this.keys) this.keys.set(id, change(row))
    this.#changes.accounts = 0
    this.#changedAt.clear()
  }

  readAccounts(since?: number): Promise<AccountRows> {
    const isWanted = ({ id }: KeyRow | GroupRow) =>
      since === undefined || (this.#changedAt.get(id) ?? 0) > since
    return this.#call('readAccounts', () => {
      const keys = [...this.keys.values()].filter(isWanted)
      const groups = [...this.groups.values()].filter(isWanted)
      this.readRows += keys.length + groups.length
      return { keys, groups }
    })
  }

  readChanges(): Promise<ChangeCounts> {
    return this.#call('readChanges', () => ({ ...this.#changes }))
  }

  createKey(key: NewKey): Promise<KeyRow | 'unknown-group'> {
    return this.#call('createKey', () => {
      if (!this.#isGroup(key.groupId)) return 'unknown-group'
      return this.#putKey({ ...key, ...freshSecret, deletedAt: null, ...nothingSpent(key) })
    })
  }

  updateKey(id: KeyId, change: KeyChange): Promise<KeyRow | 'unknown-key' | 'unknown-group'> {
    return this.#call('updateKey', () => {
      const row = alive(this.keys.get(id))
      if (!row) return 'unknown-key'
      if (change.groupId !== undefined && !this.#isGroup(change.groupId)) return 'unknown-group'
      return this.#putKey(changed(row, change))
    })
  }

  rotateKey(id: KeyId, { digest, graceEndsAt }: Rotation): Promise<KeyRow | 'unknown-key'> {
    return this.#call('rotateKey', () => {
      const row = alive(this.keys.get(id))
      if (!row) return 'unknown-key'
      const formerDigest = graceEndsAt === null ? null : row.digest
      return this.#putKey({ ...row, digest, formerDigest, graceEndsAt })
    })
  }

  deleteKey(id: KeyId, at: number): Promise<KeyRow | 'unknown-key'> {
    return this.#call('deleteKey', () => {
      const row = alive(this.keys.get(id))
      return row ? this.#putKey({ ...row, deletedAt: at }) : 'unknown-key'
    })
  }

  grantKey(id: KeyId, amount: NanoUsd): Promise<KeyRow | 'unknown-key' | GrantError> {
    return this.#call('grantKey', () => {
      const row = alive(this.keys.get(id))
      if (!row) return 'unknown-key'
      const budgetMax = granted(row, amount)
      return typeof budgetMax === 'string' ? budgetMax : this.#putKey({ ...row, budgetMax })
    })
  }

  createGroup(group: BudgetGroup): Promise<GroupRow> {
    return this.#call('createGroup', () => this.#putGroup({ ...group, ...nothingSpent(group) }))
  }

  updateGroup(id: GroupId, change: GroupChange): Promise<GroupRow | 'unknown-group'> {
    return this.#call('updateGroup', () => {
      const row = alive(this.groups.get(id))
      return row ? this.#putGroup(changed(row, change)) : 'unknown-group'
    })
  }

  deleteGroup(id: GroupId, at: number): Promise<GroupRow | 'unknown-group' | 'has-members'> {
    return this.#call('deleteGroup', () => {
      const row = alive(this.groups.get(id))
      if (!row) return 'unknown-group'
      const isMember = (key: KeyRow) => key.groupId === id && key.deletedAt === null
      if ([...this.keys.values()].some(isMember)) return 'has-members'
      return this.#putGroup({ ...row, deletedAt: at })
    })
  }

  grantGroup(id: GroupId, amount: NanoUsd): Promise<GroupRow | 'unknown-group' | GrantError> {
    return this.#call('grantGroup', () => {
      const row = alive(this.groups.get(id))
      if (!row) return 'unknown-group'
      const budgetMax = granted(row, amount)
      return typeof budgetMax === 'string' ? budgetMax : this.#putGroup({ ...row, budgetMax })
    })
  }

  addSpend(flush: SpendFlush): Promise<void> {
    return this.#call('addSpend', () => {
      if (this.#isWritten(flush.id)) return
      this.flushes.set(flush.id, flush)
      this.#charge(spendText(flush.additions), flush.process)
    })
  }

  addUsage(batch: UsageBatch): Promise<readonly LostCharge[]> {
    return this.#call('addUsage', () => {
      this.#addRows(batch)
      return batch.text().process === undefined ? [] : this.#findLost(batch)
    })
  }

  addLostUsage(batch: UsageBatch, { last, ...request }: LostLookup): Promise<boolean> {
    return this.#call('addLostUsage', () => {
      const isNew = !this.#isWritten(batch.id)
      if (isNew && this.#rowsOf(request).some(({ id }) => id > last)) return false
      this.#addRows(batch)
      return true
    })
  }

  readSpend(ids: readonly string[]): Promise<readonly SubjectSpend[]> {
    return this.#call('readSpend', () =>
      ids.flatMap((id) => {
        const row = this.keys.get(id) ?? this.groups.get(id)
        if (!row) return []
        const { budgetSpent, spentTotal, term } = row
        const shares = [...(this.#shares.get(id)?.values() ?? [])]
        return [{ id, budgetSpent, spentTotal, term, shares }]
      }),
    )
  }

  listProcesses(): Promise<readonly string[]> {
    return this.#call('listProcesses', () => [
      ...new Set([...this.#shares.values()].flatMap((shares) => [...shares.keys()])),
    ])
  }

  readShares(process: string): Promise<readonly ProcessShare[]> {
    return this.#call('readShares', () =>
      [...this.#shares].flatMap(([subject, shares]) => {
        const share = shares.get(process)
        if (!share) return []
        const { since, amount, total } = share
        return [{ subject, since, amount, total }]
      }),
    )
  }

  forgetProcess(process: string): Promise<void> {
    return this.#call('forgetProcess', () => {
      for (const shares of this.#shares.values()) shares.delete(process)
    })
  }

  findUsage({ requests, since, until }: UsageFindQuery): Promise<UsageFindings> {
    return this.#call('findUsage', () => ({
      last: this.usage.at(-1)?.id ?? 0,
      requests: requests.flatMap((request) => {
        const rows = this.#rowsOf(request).filter(({ ts }) => ts >= since && ts <= until)
        return rows.length === 0 ? [] : [{ ...request, isLost: rows.every(isLost) }]
      }),
    }))
  }

  purgeUsage(before: number, limit: number): Promise<number> {
    return this.#call('purgeUsage', () => {
      const gone = new Set(this.usage.filter(({ ts }) => ts < before).slice(0, limit))
      const kept = this.usage.filter((row) => !gone.has(row))
      this.usage.splice(0, this.usage.length, ...kept)
      return gone.size
    })
  }

  sumUsage(query: UsageSumQuery): Promise<readonly UsageSum[]> {
    return this.#call('sumUsage', () => {
      const sums = new Map<string, UsageSum>()
      for (const row of this.usage.filter((candidate) => matches(candidate, query))) {
        const group = readGroup(row, query.groupBy)
        sums.set(group, plus(sums.get(group) ?? { ...noUsage, group }, row))
      }
      return [...sums.values()].sort(dearestFirst).slice(0, query.limit)
    })
  }

  sumUsageByInterval(query: UsageIntervalQuery): Promise<readonly UsageIntervalSum[]> {
    return this.#call('sumUsageByInterval', () => {
      const sums = new Map<string, UsageIntervalSum>()
      for (const row of this.usage.filter((candidate) => matches(candidate, query))) {
        const group = readGroup(row, query.groupBy)
        if (!query.groups.includes(group)) continue
        const start = startOfInterval(query.interval, row.ts)
        const id = `${start} ${group}`
        const { requests, tokensIn, tokensOut, cachedTokens, cost } = plus(
          { ...noUsage, ...sums.get(id), group },
          row,
        )
        sums.set(id, { group, start, requests, tokensIn, tokensOut, cachedTokens, cost })
      }
      return [...sums.values()].sort((a, b) => a.start - b.start).slice(0, query.limit)
    })
  }

  readPrices(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return this.#call(
      'readPrices',
      () => new Map([...this.prices].filter(([id]) => ids.includes(id))),
    )
  }

  writeRepriced(rows: readonly RepricedRow[]): Promise<void> {
    return this.#call('writeRepriced', () => {
      for (const { id, cost } of rows) {
        const at = this.usage.findIndex((row) => row.id === id)
        const row = this.usage[at]
        if (!row) continue
        const bill = writeBill({ ...readBill(row.bill), repriced: cost })
        this.usage[at] = { ...row, bill }
      }
    })
  }

  listUsage(query: UsageListQuery): Promise<readonly UsageRow[]> {
    return this.#call('listUsage', () =>
      this.usage
        .filter((row) => row.id > query.cursor && matches(row, query))
        .filter((row) => passes(row, query))
        .slice(0, query.limit),
    )
  }

  addRefused({ id, rows }: RefusedBatch): Promise<void> {
    return this.#call('addRefused', () => {
      if (this.#refusedBatches.has(id)) return
      this.#refusedBatches.add(id)
      for (const row of rows) this.refused.push({ ...row, id: ++this.#lastRefusedId })
      this.refused.splice(0, this.refused.length - refusedKept)
    })
  }

  purgeRefused(before: number, limit: number): Promise<number> {
    return this.#call('purgeRefused', () => {
      const gone = new Set(this.refused.filter(({ ts }) => ts < before).slice(0, limit))
      const kept = this.refused.filter((row) => !gone.has(row))
      this.refused.splice(0, this.refused.length, ...kept)
      return gone.size
    })
  }

  listRequests(query: RequestListQuery): Promise<RequestPage> {
    return this.#call('listRequests', () => {
      const newest = { usage: this.#lastUsageId, refused: this.#lastRefusedId }
      const isOlder = query.direction === 'older'
      const start =
        query.position ??
        (isOlder ? { usage: newest.usage + 1, refused: newest.refused + 1 } : origin)
      const all: RequestRow[] = [
        ...this.usage.map((row) => ({ ...row, log: 'usage', count: 1 }) as const),
        ...this.refused.map((row) => ({ ...row, ...nothingUsed, log: 'refused' }) as const),
      ]
      const found = all
        .filter(({ log, id }) => (isOlder ? id < start[log] : id > start[log]))
        .filter(({ ts }) => !query.window || (ts >= query.window.since && ts <= query.window.until))
        .filter((row) => passes(row, query))
        .sort((a, b) => (isOlder ? -1 : 1) * (a.log === b.log ? a.id - b.id : a.ts - b.ts))
      const rows = found.slice(0, query.limit)
      const isLast = rows.length < query.limit
      const last = (log: RequestRow['log']) => rows.findLast((row) => row.log === log)?.id
      const behind = {
        usage: last('usage') ?? start.usage,
        refused: last('refused') ?? start.refused,
      }
      return { rows, end: isLast ? (isOlder ? origin : newest) : behind, newest, isLast }
    })
  }

  readSealed(purpose: SealedPurpose): Promise<readonly SealedRow[]> {
    return this.#call('readSealed', () =>
      [...this.#sealed.values()]
        .filter((row) => row.purpose === purpose)
        .sort((a, b) => (a.name < b.name ? -1 : 1)),
    )
  }

  putSealed(row: SealedRow): Promise<void> {
    return this.#call('putSealed', () => this.#putSealed(row))
  }

  replaceSealed(rows: readonly SealedRow[]): Promise<void> {
    return this.#call('replaceSealed', () => {
      for (const row of rows) this.#putSealed(row)
    })
  }

  deleteSealed(purpose: SealedPurpose, name: string): Promise<boolean> {
    return this.#call('deleteSealed', () => {
      const isDeleted = this.#sealed.delete(`${purpose}/${name}`)
      if (isDeleted) this.#countSealed(purpose)
      return isDeleted
    })
  }

  readWebhookSettings(): Promise<WebhookRow | undefined> {
    return this.#call('readWebhookSettings', () => this.#webhooks)
  }

  putWebhookSettings(row: WebhookRow): Promise<void> {
    return this.#call('putWebhookSettings', () => {
      this.#webhooks = row
      this.#changes.webhooks++
    })
  }

  audited(entry: AuditEntry): AuditedStore {
    const writes = auditedMethods.map((method) => {
      // The arguments are those of the method.
      const write = this[method].bind(this) as (...args: unknown[]) => Promise<unknown>
      const audited = async (...args: unknown[]) => {
        const result = await write(...args)
        if (typeof result !== 'string' && result !== false) this.#addAudit(entry)
        return result
      }
      return [method, audited]
    })
    // Each has the arguments and the result of its method.
    return Object.fromEntries(writes) as AuditedStore
  }

  addAudit(entry: AuditEntry): Promise<void> {
    return this.#call('addAudit', () => this.#addAudit(entry))
  }

  purgeAudit(before: number, limit: number): Promise<number> {
    return this.#call('purgeAudit', () => {
      const gone = new Set(this.audit.filter(({ ts }) => ts < before).slice(0, limit))
      const kept = this.audit.filter((row) => !gone.has(row))
      this.audit.splice(0, this.audit.length, ...kept)
      return gone.size
    })
  }

  listAudit({ since, until, action, subjectId, cursor, limit }: AuditQuery): Promise<AuditRow[]> {
    return this.#call('listAudit', () =>
      this.audit
        .filter((row) => row.id > cursor && row.ts >= since && row.ts <= until)
        .filter((row) => action === undefined || row.action === action)
        .filter((row) => subjectId === undefined || row.subjectId === subjectId)
        .slice(0, limit),
    )
  }

  abandon(): void {
    this.trouble = 'refuse'
  }

  async close(): Promise<void> {
    await this.#turn.catch(() => {})
    this.closed = true
  }

  /** Runs calls one by one, in order. */
  #call<T>(name: string, run: () => T): Promise<T> {
    this.calls.push(name)
    const gate = this.#gate
    const done = this.#turn.then(async () => {
      await gate
      if (this.closed || this.trouble === 'refuse') throw new StoreFault('the database is out')
      const answer = run()
      if (this.trouble === 'lose-answer') throw new StoreFault('the answer is lost')
      return answer
    })
    this.#turn = done.catch(() => {})
    return done
  }

  /** Flushes and batches have their ids in common. */
  #isWritten(id: string): boolean {
    return this.flushes.has(id) || this.batches.has(id)
  }

  #addRows(batch: UsageBatch): void {
    if (this.#isWritten(batch.id)) return
    const rows = batch.rows()
    this.batches.set(batch.id, rows)
    for (const [id, text] of batch.prices()) this.prices.set(id, text)
    const { spend, process } = batch.text()
    this.#charge(spend, process)
    for (const row of rows) this.usage.push({ ...row, id: ++this.#lastUsageId })
  }

  #rowsOf({ requestId, keyId }: UsageRequest): readonly UsageRow[] {
    return this.usage.filter((row) => row.requestId === requestId && row.keyId === keyId)
  }

  #findLost(batch: UsageBatch): LostCharge[] {
    const requests = new Map(
      batch.rows().map(({ requestId, keyId }) => [`${keyId} ${requestId}`, { requestId, keyId }]),
    )
    return [...requests.values()].flatMap((request) => {
      const rows = this.#rowsOf(request).filter(isLost)
      const cost = rows.reduce((sum, row) => sum + row.cost, 0n) as NanoUsd
      return cost > 0n ? [{ ...request, cost, row: rows.at(-1)?.id ?? 0 }] : []
    })
  }

  #addAudit(entry: AuditEntry): void {
    this.audit.push({ ...entry, id: ++this.#lastAuditId })
  }

  #charge({ key, group }: SpendText, process: string | undefined): void {
    chargeRows(this.keys, key)
    chargeRows(this.groups, group)
    if (process !== undefined) for (const spend of [key, group]) this.#addShares(process, spend)
  }

  #addShares(process: string, spend: string): void {
    for (const [id, usd, nano, termUsd, termNano, since] of JSON.parse(spend)) {
      const shares = this.#shares.get(id) ?? new Map<string, SpendShare>()
      this.#shares.set(id, shares)
      const before = shares.get(process) ?? { process, since: 0, amount: noMoney, total: noMoney }
      const isOver = since < before.since
      const kept = since === before.since || isOver ? before.amount : noMoney
      const added = isOver ? noMoney : joinAmount(termUsd, termNano)
      shares.set(process, {
        process,
        since: Math.max(since, before.since),
        amount: (kept + added) as NanoUsd,
        total: (before.total + joinAmount(usd, nano)) as NanoUsd,
      })
    }
  }

  #isGroup(id: GroupId | null): boolean {
    return id === null || alive(this.groups.get(id)) !== undefined
  }

  #putSealed(row: SealedRow): void {
    this.#sealed.set(`${row.purpose}/${row.name}`, row)
    this.#countSealed(row.purpose)
  }

  #countSealed(purpose: SealedPurpose): void {
    if (purpose === 'provider-key') this.#changes['provider-keys']++
    if (purpose === 'webhook-signing-key') this.#changes.webhooks++
  }

  #putKey(row: KeyRow): KeyRow {
    this.#changedAt.set(row.id, ++this.#changes.accounts)
    this.keys.set(row.id, row)
    return row
  }

  #putGroup(row: GroupRow): GroupRow {
    this.#changedAt.set(row.id, ++this.#changes.accounts)
    this.groups.set(row.id, row)
    return row
  }
}

function alive<Row extends { readonly deletedAt: number | null }>(
  row: Row | undefined,
): Row | undefined {
  return row?.deletedAt === null ? row : undefined
}

const freshSecret = { formerDigest: null, graceEndsAt: null }

/** The spend of a new row; its term ends with the period that contains its creation. */
function nothingSpent({ budgetPeriod: period, createdAt }: BudgetGroup | NewKey): SavedSpend {
  const resetsAt = period === null ? null : periodEnd(period, createdAt)
  return { budgetSpent: noMoney, spentTotal: noMoney, term: { period, since: 0, resetsAt } }
}

function changed<Row extends KeyRow | GroupRow>(row: Row, change: KeyChange | GroupChange): Row {
  const { budgetPeriod, ...others } = change
  const next = { ...row, ...others }
  if (!budgetPeriod) return next
  const { period, at } = budgetPeriod
  const { term } = row
  const isOver = term.period !== null && term.resetsAt !== null && at >= term.resetsAt
  const current: BudgetTerm = isOver
    ? {
        period: term.period,
        since: Math.max(periodStart(term.period, at), term.since + 1),
        resetsAt: periodEnd(term.period, at),
      }
    : term
  const resetsAt =
    period === current.period ? current.resetsAt : period === null ? null : periodEnd(period, at)
  return {
    ...next,
    budgetSpent: isOver ? noMoney : row.budgetSpent,
    budgetPeriod: period,
    term: { period, since: current.since, resetsAt },
  }
}

const noMoney = 0n as NanoUsd

function chargeRows<Row extends KeyRow | GroupRow>(rows: Map<string, Row>, spend: string): void {
  for (const [id, usd, nano, termUsd, termNano, since, resetsAt, period] of JSON.parse(spend)) {
    const row = rows.get(id)
    if (!row) continue
    const amount = joinAmount(usd, nano)
    const termAmount = joinAmount(termUsd, termNano)
    const isNext = since > row.term.since
    const isSame = since === row.term.since
    const spent = isNext ? termAmount : isSame ? row.budgetSpent + termAmount : row.budgetSpent
    rows.set(id, {
      ...row,
      budgetSpent: spent as NanoUsd,
      spentTotal: (row.spentTotal + amount) as NanoUsd,
      term: {
        period: row.term.period,
        since: isNext ? since : row.term.since,
        resetsAt: isNext && period === row.term.period ? resetsAt : row.term.resetsAt,
      },
    })
  }
}

function granted(row: KeyRow | GroupRow, amount: NanoUsd): NanoUsd | GrantError {
  if (row.budgetMax === null) return 'no-cap'
  const sum = (row.budgetMax + amount) as NanoUsd
  return sum > maxBudget ? 'too-much' : sum
}

function isLost({ errorCode }: UsageRow): boolean {
  return errorCode === 'LM-6002'
}

const origin = { usage: 0, refused: 0 }

const nothingUsed = {
  modelUsed: null,
  provider: null,
  ttftMs: null,
  queuedMs: null,
  tokensIn: 0,
  tokensOut: 0,
  estimated: false,
  cost: 0n as NanoUsd,
  cacheHit: false,
  attempts: 0,
}

type FilteredRow = Pick<
  RequestRow,
  'requestId' | 'keyId' | 'groupId' | 'model' | 'provider' | 'errorCode' | 'status'
>

function passes(row: FilteredRow, filter: RequestFilter): boolean {
  const { statuses } = filter
  const members = ['requestId', 'keyId', 'groupId', 'model', 'provider', 'errorCode'] as const
  return (
    members.every((member) => (filter[member] ?? row[member]) === row[member]) &&
    (!statuses || (row.status >= statuses.from && row.status <= statuses.to))
  )
}

function matches(row: UsageRow, filter: UsageFilter): boolean {
  const is = (wanted: string | undefined, value: string | null) =>
    wanted === undefined || wanted === value
  return (
    row.ts >= filter.since &&
    row.ts <= filter.until &&
    is(filter.keyId, row.keyId) &&
    is(filter.groupId, row.groupId) &&
    is(filter.model, row.model) &&
    is(filter.provider, row.provider) &&
    is(filter.capability, row.capability) &&
    is(filter.api, row.api)
  )
}

function readGroup(row: UsageRow, by: UsageGrouping): string {
  const columns: Record<UsageGrouping, string | number | null> = {
    model: row.model,
    model_used: row.modelUsed,
    provider: row.provider,
    capability: row.capability,
    api: row.api,
    key_id: row.keyId,
    group_id: row.groupId,
    status: row.status,
    tier: row.tier,
    total: 'total',
  }
  return String(columns[by] ?? '')
}

function dearestFirst(a: UsageSum, b: UsageSum): number {
  if (a.cost !== b.cost) return a.cost > b.cost ? -1 : 1
  return a.group < b.group ? -1 : 1
}

const noUsage: UsageSum = {
  group: '',
  requests: 0,
  requestsOk: 0,
  requestsClientError: 0,
  requestsServerError: 0,
  tokensIn: 0,
  tokensOut: 0,
  tokensTotal: 0,
  cachedTokens: 0,
  estimatedRequests: 0,
  upstreamRequests: 0,
  searchUnits: 0,
  mediaCount: 0,
  mediaBytes: 0,
  cost: 0n as NanoUsd,
  lastAt: 0,
}

function plus(sum: UsageSum, row: UsageRow): UsageSum {
  const one = (counts: boolean) => (counts ? 1 : 0)
  return {
    group: sum.group,
    requests: sum.requests + 1,
    requestsOk: sum.requestsOk + one(row.status >= 200 && row.status < 300),
    requestsClientError: sum.requestsClientError + one(row.status >= 400 && row.status < 500),
    requestsServerError: sum.requestsServerError + one(row.status >= 500),
    tokensIn: sum.tokensIn + row.tokensIn,
    tokensOut: sum.tokensOut + row.tokensOut,
    tokensTotal: sum.tokensTotal + row.tokensTotal,
    cachedTokens: sum.cachedTokens + row.cachedTokens,
    estimatedRequests: sum.estimatedRequests + one(row.estimated),
    upstreamRequests: sum.upstreamRequests + one(!row.estimated),
    searchUnits: sum.searchUnits + row.searchUnits,
    mediaCount: sum.mediaCount + row.mediaCount,
    mediaBytes: sum.mediaBytes + row.mediaBytes,
    cost: (sum.cost + row.cost) as NanoUsd,
    lastAt: Math.max(sum.lastAt, row.ts),
  }
}
