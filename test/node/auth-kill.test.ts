import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { seededRandom } from '../support/seeded-random.ts'
import { buildPackage, command, type Package } from './support/command.ts'
import { type HostedKey, hostAt, type KeyedHost, masterKey } from './support/keyed-host.ts'
import { connect, folder } from './support/store.ts'

let built: Package

beforeAll(async () => {
  built = await buildPackage()
})

afterAll(() => built.remove())

const interval = 200
/** On a busy machine, a flush may still run when the next one is due. */
const grace = 600

const config = (path: string, port: number) => `
  [server]
  port = ${port}
  [auth]
  enabled = true
  db_path = ${JSON.stringify(path)}
  flush_interval_ms = ${interval}
  usage_flush_ms = ${interval}
  [[providers]]
  name = "demo"
  kind = "demo"
  models = [{ id = "m", cost_per_1m_output = 1000 }]
`

/** The time and the cost of a served request. */
interface Served {
  readonly at: number
  readonly nano: number
}

test('a gateway that is killed under load loses at most the last interval, and its spend equals the sum of its rows', async () => {
  const random = seededRandom()
  const path = join(folder(), 'gateway.db')
  const port = 26_000 + (process.pid % 4_000)
  const served: Served[] = []
  const acknowledged: string[] = []
  let busy: HostedKey | undefined
  let kills = 0
  for (; kills < 4; kills++) {
    const gateway = command([built.executable, '--config', 'config.toml'], {
      config: config(path, port),
      env: { GATEWAY_MASTER_KEY: masterKey },
    })
    await gateway.until(/http:\/\/127\.0\.0\.1:\d+/)
    const host = hostAt(`http://127.0.0.1:${port}`)
    const { body: group } = await host.admin('POST', '/admin/groups', { name: 'g' })
    busy ??= await host.key({ budget_max: 1e9, group_id: group['id'] })
    const other = await host.key({ group_id: group['id'] })
    const { id, key } = busy
    const before = await spentIn(path, id)
    const known = await host.admin('GET', `/admin/keys/${id}`)
    expect(Math.round(Number(known.body['budget_spent']) * 1e9)).toBe(before)

    served.length = 0
    const load = [...Array(8)].map(() => useUp(host, key, served))
    load.push(useUp(host, other.key, []))
    const admin = createKeys(host, acknowledged)
    await sleep(1_200 + random() * 800)
    const killedAt = performance.now()
    const gone = new Promise((resolve) => gateway.process.once('close', resolve))
    gateway.process.kill('SIGKILL')
    await Promise.all([gone, admin, ...load])

    const { rows } = await connect(path).execute('pragma integrity_check')
    expect(rows[0]?.[0]).toBe('ok')
    expect(await unexplained(path)).toEqual([])
    const kept = (await spentIn(path, id)) - before
    const due = served.filter(({ at }) => at < killedAt - interval - grace)
    expect(due.length).toBeGreaterThan(0)
    expect(kept).toBeGreaterThanOrEqual(sum(due))
    // Each connection may have one request that was charged, but whose response was cut off.
    expect(kept).toBeLessThanOrEqual(sum(served) + 8 * largest(served))
  }
  const { rows } = await connect(path).execute('select id from virtual_keys')
  const found = new Set(rows.map((row) => row[0]))
  expect(acknowledged.filter((id) => !found.has(id))).toEqual([])
  expect(acknowledged.length).toBeGreaterThan(kills)
  // Every row is complete and was charged.
  const broken = 'select count(*) from usage_log where status <> 200 or cost_nano = 0'
  expect((await connect(path).execute(broken)).rows[0]?.[0]).toBe(0)
}, 60_000)

/** Sends requests one by one until the gateway stops responding. */
async function useUp(host: KeyedHost, key: string, served: Served[]): Promise<void> {
  for (;;) {
    const answer = await host.chat(key).catch(() => undefined)
    if (!answer) return
    const { completion_tokens: tokens } = answer.body['usage'] as { completion_tokens: number }
    served.push({ at: performance.now(), nano: tokens * 1_000_000 })
  }
}

async function createKeys(host: KeyedHost, acknowledged: string[]): Promise<void> {
  for (;;) {
    const key = await host.key().catch(() => undefined)
    if (!key) return
    acknowledged.push(key.id)
  }
}

async function spentIn(path: string, id: string): Promise<number> {
  const { rows } = await connect(path).execute({
    sql: 'select budget_spent_usd * 1000000000 + budget_spent_nano from virtual_keys where id = ?',
    args: [id],
  })
  return Number(rows[0]?.[0])
}

/** Returns the keys and groups whose spend is not the sum of their rows. */
async function unexplained(path: string): Promise<unknown[]> {
  const cost = 'coalesce(sum(cost_usd * 1000000000 + cost_nano), 0)'
  const books = (table: string, column: string) => `
    select id, budget_spent_usd * 1000000000 + budget_spent_nano as spent,
      (select ${cost} from usage_log where ${column} = ${table}.id) as explained
    from ${table}`
  const { rows } = await connect(path).execute(`
    select * from (${books('virtual_keys', 'key_id')} union all ${books('budget_groups', 'group_id')})
    where spent <> explained`)
  return rows
}

function sum(served: readonly Served[]): number {
  return served.reduce((total, { nano }) => total + nano, 0)
}

function largest(served: readonly Served[]): number {
  return Math.max(0, ...served.map(({ nano }) => nano))
}
