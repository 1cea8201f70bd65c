import { expect } from 'vitest'
import type { Gateway } from '../../src/index.ts'
import { series } from './exposition.ts'
import type { LogLine } from './gateway.ts'
import type { MemoryStore } from './memory-store.ts'

export interface KeyedTest {
  readonly gateway: Gateway
  readonly store: MemoryStore
  readonly masterKey: string
  readonly log: readonly LogLine[]
}

/**
 * Checks that no budget is reserved and that the spend of keys and groups, in memory and in the
 * database, equals the sum of the rows in the usage log. Closes the gateway.
 */
export async function expectAccountsToBalance(test: KeyedTest): Promise<void> {
  const { gateway, store } = test
  const reports = store.closed ? [] : await readAccounts(test)
  const dropped = store.closed ? undefined : await droppedRows(gateway)
  if (!store.closed) await gateway.close()

  const rows = [...store.batches.values()].flat()
  for (const { id, reserved, spent } of reports) {
    expect(reserved, `reserved of ${id}`).toBe(0)
    expect(spent, `spent of ${id}, in memory and in the database`).toBe(usdSpent(store, id))
  }
  if (dropped === undefined) return
  const accounted = test.log.filter(isAccounted).length
  expect(rows.length + dropped, 'rows and dropped rows').toBe(accounted)
  if (dropped > 0) return
  for (const { id, spentTotal } of store.keys.values()) {
    const own = rows.filter(({ keyId }) => keyId === id)
    expect(spentTotal, `spent of key ${id}, and its rows`).toBe(sum(own))
  }
  for (const { id, spentTotal } of store.groups.values()) {
    const own = rows.filter(({ groupId }) => groupId === id)
    expect(spentTotal, `spent of group ${id}, and its rows`).toBe(sum(own))
  }
}

/** A key or a group as the admin API shows it. */
interface Shown {
  readonly id: string
  readonly spent_total: number
}

interface AccountReport {
  readonly id: string
  readonly reserved: unknown
  readonly spent: unknown
}

/** Returns the spend of every key and group, and what its 402 says is reserved with a budget of 0. */
async function readAccounts({ gateway, store, masterKey }: KeyedTest): Promise<AccountReport[]> {
  const send = async (method: string, path: string, token: string, body?: object) => {
    const headers = { authorization: `Bearer ${token}` }
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) }
    const response = await gateway.fetch(new Request(`http://gateway.test${path}`, init))
    return JSON.parse((await response.text()) || '{}')
  }
  const admin = (method: string, path: string, body?: object) => send(method, path, masterKey, body)
  const refused = async (shown: Shown, { secret, keyId }: Sender): Promise<AccountReport[]> => {
    const { data } = await send('GET', '/v1/models', secret)
    const { id, spent_total: spent } = shown
    if (data.length === 0) return []
    const requests = data.flatMap((model: ShownModel) => {
      const bodies = smallest[model.capabilities[0] ?? ''] ?? []
      return bodies.map(({ path, body }) => ({ path, body: { model: model.id, ...body } }))
    })
    // The budget of 0 does not refuse what costs nothing, and what has no price may be refused before.
    const codes = new Set<string | null>()
    let found: (typeof requests)[number] | undefined
    for (const request of requests) {
      const { admission } = await admin('POST', '/admin/explain', { ...request, key_id: keyId })
      // Decisions of the other form.
      if (admission.code === 'LM-1001') continue
      codes.add(admission.code)
      if (admission.code === 'LM-4001') found ??= request
    }
    if (!found && isSubset(codes, unspent)) return []
    const { path, body } = found ?? requests[0]
    const { error } = await send('POST', path, secret, body)
    expect(error, `the refusal of ${id}`).toMatchObject({ code: 'LM-4001' })
    return [{ id, reserved: error.reserved, spent }]
  }
  const reports: AccountReport[] = []
  for (const { id, deletedAt } of store.groups.values()) {
    if (deletedAt !== null) continue
    const shown = await admin('PATCH', `/admin/groups/${id}`, { ...noLimits, budget_max: 0 })
    const made = await admin('POST', '/admin/keys', { name: 'check', group_id: id })
    reports.push(...(await refused(shown, { secret: made.key, keyId: made.id })))
  }
  for (const { id, deletedAt } of store.keys.values()) {
    if (deletedAt !== null) continue
    const { key } = await admin('POST', `/admin/keys/${id}/rotate`)
    const shown = await admin('PATCH', `/admin/keys/${id}`, { ...free, budget_max: 0 })
    reports.push(...(await refused(shown, { secret: key, keyId: id })))
  }
  return reports
}

interface Sender {
  readonly secret: string
  readonly keyId: string
}

interface ShownModel {
  readonly id: string
  readonly capabilities: readonly string[]
}

/** What a spent budget need not refuse. */
const unspent: ReadonlySet<string | null> = new Set([null, 'LM-4007'])

function isSubset<Item>(items: Iterable<Item>, all: ReadonlySet<Item>): boolean {
  return [...items].every((item) => all.has(item))
}

const noLimits = { models: null, rpm_limit: null, tpm_limit: null, max_parallel: null }
const free = { ...noLimits, group_id: null, disabled: false, expires_at: null }

interface Smallest {
  readonly path: string
  readonly body: object
}

/** The smallest requests for each capability: one of them is valid. */
const smallest: Readonly<Record<string, readonly Smallest[]>> = {
  chat: [{ path: '/v1/chat/completions', body: { messages: [{ role: 'user', content: 'x' }] } }],
  embed: [{ path: '/v1/embeddings', body: { input: 'x' } }],
  rerank: [{ path: '/v1/rerank', body: { query: 'x', documents: ['x'] } }],
  decisions: [
    { path: '/v1/decisions', body: { input: 'x', questions: [{}] } },
    { path: '/v1/decisions', body: { state: 'x', questions: { x: {} } } },
  ],
}

async function droppedRows({ fetch }: Gateway): Promise<number> {
  const metrics = await fetch(new Request('http://gateway.test/metrics'))
  return series(await metrics.text(), 'gateway_usage_log_dropped_total')[0]?.value ?? 0
}

/** True for the log line of a request with a usage row: with a key and a model that it may use, and not invalid. */
function isAccounted({ message, fields }: LogLine): boolean {
  const { key_id: key, model, error_code: code, attempts } = fields
  // A refusal by an upstream has cost a call.
  const isWrong = /^LM-([12]|4005)/.test(String(code)) && !Number(attempts)
  return message === 'request' && key !== undefined && model !== undefined && !isWrong
}

function usdSpent(store: MemoryStore, id: string): number {
  const row = store.keys.get(id) ?? store.groups.get(id)
  return Number(row?.spentTotal ?? -1n) / 1e9
}

function sum(rows: readonly { readonly cost: bigint }[]): bigint {
  return rows.reduce((total, { cost }) => total + cost, 0n)
}
