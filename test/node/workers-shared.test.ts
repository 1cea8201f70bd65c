import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { samples } from '../support/exposition.ts'
import { hasRedis, type RedisServer, startRedis } from '../support/redis.ts'
import { finished } from './support/command.ts'
import { ask, type Crew, crew, isRunning } from './support/crew.ts'
import { type HostedKey, hostAt, type KeyedHost, masterKey } from './support/keyed-host.ts'
import { awayFromMinuteEnd } from './support/minutes.ts'
import { folder, valueOf } from './support/store.ts'

/*
 * The shipped executable with several workers that share the state of their keys.
 */

let redis: RedisServer | undefined

beforeAll(async () => {
  if (!hasRedis) return
  redis = await startRedis()
})

afterAll(async () => {
  await redis?.stop()
})

const lease = 1_000
/** The number of the last gateway. */
let last = 0

/** Every answer costs 0.005 USD. A stream of `m` takes more than a second, and `endless` never answers. */
const makeConfig = (database: string, shared: string) => `
log_format = "json"
[server]
workers = 2
[auth]
enabled = true
db_path = ${JSON.stringify(database)}
[shared]
${shared}
lease_ms = ${lease}
[[providers]]
name = "demo"
kind = "demo"
tokens_per_second = 4
models = [{ id = "m", cost_per_1m_output = 1000 }]
[[providers]]
name = "endless"
kind = "demo"
tokens_per_second = 0.001
models = [{ id = "endless", cost_per_1m_output = 1000 }]
`

const messages = [{ role: 'user', content: 'Hi' }]
const body = { model: 'm', messages, max_tokens: 5 }
const stream = { ...body, stream: true, stream_options: { include_usage: true } }

interface KeyedCrew extends Crew, KeyedHost {
  readonly database: string
}

async function start(): Promise<KeyedCrew> {
  const database = join(folder(), 'gateway.db')
  const shared = `url = "${redis?.url}"\nprefix = "test-${++last}"`
  const config = makeConfig(database, shared)
  const gateway = await crew(config, { GATEWAY_MASTER_KEY: masterKey })
  return { ...gateway, ...hostAt(gateway.address), database }
}

/** Creates a key, and waits until every worker knows it. */
async function createKey(gateway: KeyedCrew, limits: object): Promise<HostedKey> {
  const created = await gateway.key(limits)
  const headers = { authorization: `Bearer ${created.key}` }
  const status = async () => (await ask(gateway.address, '/v1/models', { headers })).status
  // All workers have a connection as soon as some are open.
  const statuses = () => Promise.all([1, 2, 3, 4].map(status))
  await expect.poll(statuses).toEqual([200, 200, 200, 200])
  return created
}

/** Sends a request with a key on a connection of its own. */
function send({ address }: KeyedCrew, { key }: HostedKey, fields: typeof body): Promise<Response> {
  const headers = { authorization: `Bearer ${key}` }
  const init = { method: 'POST', body: JSON.stringify(fields), headers }
  return ask(address, '/v1/chat/completions', init)
}

/** Sends requests with a key at the same time. Returns their statuses. */
function crowd(gateway: KeyedCrew, key: HostedKey, count: number): Promise<number[]> {
  const status = async () => {
    const response = await send(gateway, key, body)
    await response.text()
    return response.status
  }
  return Promise.all(Array.from({ length: count }, status))
}

function countStatus(statuses: readonly number[], status: number): number {
  return statuses.filter((each) => each === status).length
}

describe.skipIf(!hasRedis)('workers that share their state', () => {
  test('grant a limit and a budget once, and show one page of metrics', async () => {
    const gateway = await start()
    const limited = await createKey(gateway, { rpm_limit: 7 })
    const capped = await createKey(gateway, { budget_max: 0.055 })
    await awayFromMinuteEnd(10_000)
    const [rates, budgets] = await Promise.all([
      crowd(gateway, limited, 20),
      crowd(gateway, capped, 30),
    ])
    expect([countStatus(rates, 200), countStatus(rates, 429)]).toEqual([7, 13])
    expect([countStatus(budgets, 200), countStatus(budgets, 402)]).toEqual([11, 19])
    const { body: spent } = await gateway.admin('GET', `/admin/keys/${capped.id}`)
    expect(spent).toMatchObject({ budget_spent: 0.055, budget_reserved: 0, in_flight: 0 })
    await expect.poll(() => gateway.lines('request')).toHaveLength(50)
    expect(new Set(gateway.lines('request').map(({ worker }) => worker))).toEqual(new Set([1, 2]))

    const page = samples(await (await ask(gateway.address, '/metrics')).text())
    const sum = (name: string) =>
      page.filter((each) => each.name === name).map(({ value }) => value)
    expect(sum('gateway_workers')).toEqual([2])
    expect(sum('gateway_shared_state_up')).toEqual([1])
    expect(
      sum('gateway_request_duration_seconds_count').reduce((total, each) => total + each, 0),
    ).toBe(50)
  })

  test('one that is killed is replaced, and what it held ends with its lease', async () => {
    const gateway = await start()
    const key = await createKey(gateway, { max_parallel: 1, budget_max: 1 })
    const read = async () => (await gateway.admin('GET', `/admin/keys/${key.id}`)).body
    const torn = send(gateway, key, { ...stream, model: 'endless' }).catch(() => 'torn')
    await expect.poll(read).toMatchObject({ in_flight: 1 })
    const workers = gateway.pids()
    for (const [at, pid] of workers.entries()) {
      process.kill(pid, 'SIGKILL')
      await expect.poll(() => gateway.lines('worker replaced')).toHaveLength(at + 1)
      if ((await Promise.race([torn, 'open'])) === 'torn') break
    }
    expect(await torn).toBe('torn')
    const after = { budget_spent: 0.005, budget_reserved: 0, in_flight: 0 }
    await expect.poll(read, { timeout: 10 * lease }).toMatchObject(after)
    const row = `select count(*) from usage_log where error_code = 'LM-6002'`
    await expect.poll(() => valueOf(gateway.database, row)).toBe(1)
    expect((await send(gateway, key, body)).status).toBe(200)
  })

  test('SIGTERM ends all of them once, with every row and its spend saved', async () => {
    const gateway = await start()
    const workers = gateway.pids()
    const key = await createKey(gateway, { budget_max: 1 })
    const streams = await Promise.all([1, 2].map(() => send(gateway, key, stream)))
    gateway.process.kill('SIGTERM')
    for (const each of streams) expect(await each.text()).toMatch(/data: \[DONE\]\n\n$/)
    expect(await finished(gateway)).toMatchObject({ code: 0, stderr: '' })
    expect(workers.filter(isRunning)).toEqual([])
    const rows = `select group_concat(status || ' ' || cost_nano) from usage_log`
    expect(await valueOf(gateway.database, rows)).toBe('200 5000000,200 5000000')
    const spent = 'select budget_spent_nano from virtual_keys'
    expect(await valueOf(gateway.database, spent)).toBe(10_000_000)
  })
})
