import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { seededRandom } from '../support/seeded-random.ts'
import { built, command, finished } from './support/command.ts'
import { type HostedKey, hostAt, type KeyedHost, masterKey } from './support/keyed-host.ts'
import { libsqlServer } from './support/libsql-server.ts'
import { freePort } from './support/shipped-gateway.ts'
import { connect, folder } from './support/store.ts'

const config = (path: string, port: number, auth = '') => `
  [server]
  port = ${port}
  [auth]
  enabled = true
  db_path = ${JSON.stringify(path)}
  ${auth}
  [[providers]]
  name = "demo"
  kind = "demo"
  models = [{ id = "m", cost_per_1m_output = 1000 }]
`

test('a gateway that is killed under load loses no request that a client saw end, and its spend equals the sum of its rows', async () => {
  const random = seededRandom()
  const path = join(folder(), 'gateway.db')
  const port = await freePort()
  /** The cost of each request that ended, in nano-dollars, by its id. */
  const seen = new Map<string, number>()
  const acknowledged: string[] = []
  let busy: HostedKey | undefined
  const kills = 4
  for (let round = 0; round <= kills; round++) {
    const gateway = command([built.executable, '--config', 'config.toml'], {
      config: config(path, port),
      env: { GATEWAY_MASTER_KEY: masterKey },
    })
    await gateway.until(/http:\/\/127\.0\.0\.1:\d+/)
    expect(await missing(path, seen)).toEqual([])
    expect(await unexplained(path)).toEqual([])
    if (round === kills) break
    const host = hostAt(`http://127.0.0.1:${port}`)
    const { body: group } = await host.admin('POST', '/admin/groups', { name: 'g' })
    busy ??= await host.key({ budget_max: 1e9, group_id: group['id'] })
    const known = await host.admin('GET', `/admin/keys/${busy.id}`)
    expect(Math.round(Number(known.body['budget_spent']) * 1e9)).toBe(await spentIn(path, busy.id))

    const { key } = busy
    const [before, keys] = [seen.size, acknowledged.length]
    const load = [...Array(8)].map((_, at) => useUp(host, { key, stream: at % 2 === 0, seen }))
    const admin = createKeys(host, acknowledged)
    // Not before the load has begun, however slow the machine is.
    await expect.poll(() => seen.size > before && acknowledged.length > keys).toBe(true)
    await sleep(random() * 1_500)
    const gone = new Promise((resolve) => gateway.process.once('close', resolve))
    gateway.process.kill('SIGKILL')
    await Promise.all([gone, admin, ...load])

    const { rows } = await connect(path).execute('pragma integrity_check')
    expect(rows[0]?.[0]).toBe('ok')
    expect(await unexplained(path)).toEqual([])
  }
  const { rows } = await connect(path).execute('select id from virtual_keys')
  const found = new Set(rows.map((row) => row[0]))
  expect(acknowledged.filter((id) => !found.has(id))).toEqual([])
  // Every row is complete and was charged.
  const broken = 'select count(*) from usage_log where status <> 200 or cost_nano = 0'
  expect((await connect(path).execute(broken)).rows[0]?.[0]).toBe(0)
}, 60_000)

test('a gateway that is killed with a database on a server loses nothing: the next start saves it, once', async () => {
  const server = await libsqlServer()
  const [port, home] = [await freePort(), folder()]
  // Without the journal, nothing is saved before the kill.
  const waiting = 'usage_flush_ms = 3600000\nflush_interval_ms = 3600000'
  const start = async () => {
    const gateway = command(
      // The lease of the killed one has not ended.
      [built.executable, '--config', 'config.toml', '--allow-second'],
      {
        config: config(server.url, port, `journal_dir = ${JSON.stringify(home)}\n${waiting}`),
        env: { GATEWAY_MASTER_KEY: masterKey },
      },
    )
    await gateway.until(/http:\/\/127\.0\.0\.1:\d+/)
    return gateway
  }
  const saved = () => {
    const { rows } = server.execute('select request_id from usage_log order by 1') as SavedRows
    return rows.map(([id]) => id?.value)
  }
  const host = hostAt(`http://127.0.0.1:${port}`)
  let gateway = await start()
  const { id, key } = await host.key({ budget_max: 1e9 })
  const streamed = { stream: true, stream_options: { include_usage: true } }
  const answers = [await host.chat(key), await host.chat(key, streamed), await host.chat(key)]
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
  const seen = answers.map(({ headers }) => String(headers.get('x-request-id'))).sort()
  const spent = async () => (await host.admin('GET', `/admin/keys/${id}`)).body['budget_spent']
  const cost = await spent()
  expect(saved()).toEqual([])
  for (let kill = 0; kill < 2; kill++) {
    gateway.process.kill('SIGKILL')
    await finished(gateway)
    gateway = await start()
    expect(saved()).toEqual(seen)
    expect(await spent()).toBe(cost)
  }
})

interface SavedRows {
  readonly rows: readonly (readonly { readonly value: string }[])[]
}

interface Use {
  readonly key: string
  readonly stream: boolean
  readonly seen: Map<string, number>
}

/** Sends requests one by one until the gateway stops responding. */
async function useUp(host: KeyedHost, { key, stream, seen }: Use): Promise<void> {
  const body = stream ? { stream, stream_options: { include_usage: true } } : {}
  for (;;) {
    const answer = await host.chat(key, body).catch(() => undefined)
    const tokens = Number(/"completion_tokens":(\d+)/.exec(answer?.text ?? '')?.[1])
    if (!answer || (stream && !answer.text.endsWith('data: [DONE]\n\n'))) return
    seen.set(String(answer.headers.get('x-request-id')), tokens * 1_000_000)
  }
}

async function createKeys(host: KeyedHost, acknowledged: string[]): Promise<void> {
  for (;;) {
    const key = await host.key().catch(() => undefined)
    if (!key) return
    acknowledged.push(key.id)
  }
}

/** Returns the requests whose cost is not in the usage log, exactly once. */
async function missing(path: string, seen: ReadonlyMap<string, number>): Promise<string[]> {
  const { rows } = await connect(path).execute(`
    select request_id, sum(cost_usd * 1000000000 + cost_nano) from usage_log group by 1`)
  const costs = new Map(rows.map((row) => [String(row[0]), Number(row[1])]))
  return [...seen].filter(([id, nano]) => costs.get(id) !== nano).map(([id]) => id)
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
