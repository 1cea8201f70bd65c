import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import OpenAI, {
  APIError,
  AuthenticationError,
  PermissionDeniedError,
  RateLimitError,
} from 'openai'
import { describe, expect, test, vi } from 'vitest'
import { completion, done, hello, role, stop, usageChunk } from '../support/answers.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { type HostAnswer, keyedHost, type ServedHost } from './support/keyed-host.ts'
import { awayFromMinuteEnd } from './support/minutes.ts'
import { httpServer, type TestServer } from './support/servers.ts'
import { connect, folder, threadEntry, valueOf } from './support/store.ts'

/** An upstream that answers after a delay and reports output tokens, at 2,000 nano-dollars each. */
function upstream(answer: (call: number) => number = () => 10): Promise<TestServer> {
  const random = seededRandom()
  let calls = 0
  return httpServer(async (request, response) => {
    request.resume()
    const tokens = answer(calls++)
    await sleep(random() * 5)
    if (tokens < 0) return response.writeHead(400).end('{"error":{"message":"no"}}')
    const usage = { prompt_tokens: 0, completion_tokens: tokens, total_tokens: tokens }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(completion('Hi', { usage })))
  })
}

interface World {
  readonly host: ServedHost
  readonly path: string
}

async function world({ url }: TestServer): Promise<World> {
  const path = join(folder(), 'gateway.db')
  const config = `
    [resilience]
    retry_max_attempts = 1
    [[providers]]
    name = "p"
    kind = "openai"
    base_url = "${url}/v1"
    models = [{ id = "m", cost_per_1m_output = 2 }]
  `
  return { host: await keyedHost({ path, config, entry: threadEntry }), path }
}

/** Sends `requests` requests over `connections` connections, one at a time on each. */
async function hammer(host: ServedHost, key: string, { connections = 64, requests = 640 } = {}) {
  const answers: HostAnswer[] = []
  let left = requests
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (left-- > 0) answers.push(await host.chat(key, { max_tokens: 10 }))
    }),
  )
  return answers
}

function counts(answers: readonly HostAnswer[]): Record<number, number> {
  const tally: Record<number, number> = {}
  for (const { status } of answers) tally[status] = (tally[status] ?? 0) + 1
  return tally
}

describe('64 connections of one key', () => {
  test('64 connections spend a tight budget completely and never exceed it', async () => {
    const { host, path } = await world(await upstream())
    // Each request reserves and costs 20,000 nano-dollars, so exactly 100 are served.
    const { id, key } = await host.key({ budget_max: 0.002 })
    const answers = await hammer(host, key)
    expect(counts(answers)).toEqual({ 200: 100, 402: 540 })
    expectWithinCap(answers)
    const { body } = await host.admin('GET', `/admin/keys/${id}`)
    expect(body).toMatchObject({ budget_spent: 0.002 })
    await host.close()
    expect(await valueOf(path, `select ${selectNano('budget_spent')} from virtual_keys`)).toBe(
      2_000_000,
    )
    expect(await valueOf(path, 'select count(*) from usage_log where status = 200')).toBe(100)
    expect(await valueOf(path, 'select count(*) from usage_log where status = 402')).toBe(540)
  })

  test('64 connections reuse the reservations of failed and cheaper requests, and the spend is the sum of the rows', async () => {
    const { host, path } = await world(await upstream((call) => [-1, 3, 10, 7][call % 4] ?? 0))
    const group = await host.admin('POST', '/admin/groups', { name: 'g', budget_max: 0.003 })
    const pool = String(group.body['id'])
    const keys = await Promise.all(
      [1, 2, 3, 4].map(() => host.key({ group_id: pool, budget_max: 0.001 })),
    )
    const answers = (
      await Promise.all(
        keys.map(({ key }) => hammer(host, key, { connections: 16, requests: 200 })),
      )
    ).flat()
    expectWithinCap(answers)
    // Nothing is reserved any more: what is left can be had to the last nano-dollar.
    for (const { id, key } of keys) {
      await host.admin('PATCH', `/admin/keys/${id}`, { budget_max: 0 })
      const { body } = await host.chat(key)
      expect(body['error']).toMatchObject({ code: 'LM-4001', reserved: 0 })
    }
    await host.close()
    const database = connect(path)
    const spent = await database.execute(`
      select k.id, ${selectNano('k.budget_spent')} as spent, sum(${selectNano('u.cost')}) as rows
      from virtual_keys k join usage_log u on u.key_id = k.id group by k.id
    `)
    expect(spent.rows).toHaveLength(4)
    for (const row of spent.rows) expect(row['spent']).toBe(row['rows'])
    const total = spent.rows.reduce((sum, row) => sum + Number(row['spent']), 0)
    expect(await valueOf(path, `select ${selectNano('budget_spent')} from budget_groups`)).toBe(
      total,
    )
    expect(total).toBeLessThanOrEqual(3_000_000)
  })

  test('64 connections get exactly as many requests a minute as the limit', async () => {
    const { host } = await world(await upstream())
    let answers: HostAnswer[]
    let minute: number
    do {
      minute = thisMinute()
      const { key } = await host.key({ rpm_limit: 250 })
      answers = await hammer(host, key)
    } while (thisMinute() !== minute)
    expect(counts(answers)).toEqual({ 200: 250, 429: 390 })
  })

  test('64 connections of two keys run exactly as many requests at once as their group allows', async () => {
    const refused = { count: 0 }
    const running = { now: 0 }
    // Answers only when every request above the limit has been refused.
    const waiting = await httpServer(async (request, response) => {
      request.resume()
      running.now++
      await vi.waitFor(() => expect([running.now, refused.count]).toEqual([7, 57]), 10_000)
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(completion()))
    })
    const { host } = await world(waiting)
    const group = await host.admin('POST', '/admin/groups', { name: 'g', max_parallel: 7 })
    const fields = { group_id: group.body['id'], max_parallel: 5 }
    const keys = [await host.key(fields), await host.key(fields)]
    const answers = await Promise.all(
      Array.from({ length: 64 }, async (_, at) => {
        const answer = await host.chat(keys[at % 2]?.key ?? '')
        if (answer.status === 429) refused.count++
        return answer
      }),
    )
    expect(counts(answers)).toEqual({ 200: 7, 429: 57 })
    const codes = answers.flatMap(({ body }) => (body['error'] as { code?: string })?.code ?? [])
    expect(new Set(codes)).toEqual(new Set(['LM-4006']))
  })
})

/** SQL for the nano-dollars of an amount that is stored in two columns. */
function selectNano(column: string): string {
  return `${column}_usd * 1000000000 + ${column}_nano`
}

/** Checks in every 402 that spend and reservations are within the budget. */
function expectWithinCap(answers: readonly HostAnswer[]): void {
  for (const { status, body } of answers) {
    if (status !== 402) continue
    const {
      budget_max: max,
      budget_spent: spent,
      reserved,
    } = body['error'] as Record<string, number>
    expect(Math.round((Number(spent) + Number(reserved)) * 1e9)).toBeLessThanOrEqual(
      Number(max) * 1e9,
    )
  }
}

function thisMinute(): number {
  return Math.floor(Date.now() / 60_000)
}

describe('a client that closes its connection', () => {
  test('a stream that its client leaves has a usage row with 499 and the cost of the streamed part', async () => {
    const vendor = await httpServer((request, response) => {
      request.resume()
      response.setHeader('content-type', 'text/event-stream')
      response.write(role + hello)
    })
    const { host } = await world(vendor)
    const { id, key } = await host.key({ budget_max: 1 })
    const leaving = new AbortController()
    const response = await fetch(`${host.address}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({
        model: 'm',
        stream: true,
        messages: [{ role: 'user', content: 'Hi' }],
      }),
      signal: leaving.signal,
    })
    await response.body?.getReader().read()
    leaving.abort()
    const rows = await vi.waitFor(async () => {
      const { body } = await host.admin('GET', '/admin/usage/export')
      expect(body['rows']).toHaveLength(1)
      return body['rows']
    }, 10_000)
    expect(rows).toMatchObject([{ key_id: id, status: 499, error_code: 'LM-6001', cost: 0.000004 }])
    const { body } = await host.admin('GET', `/admin/keys/${id}`)
    expect(body['budget_spent']).toBe(0.000004)
  })
})

describe('the official openai package', () => {
  function client(host: ServedHost, apiKey: string, maxRetries = 0): OpenAI {
    return new OpenAI({ baseURL: `${host.address}/v1`, apiKey, maxRetries })
  }

  const request = { model: 'm', messages: [{ role: 'user' as const, content: 'Hello' }] }

  async function failure(promise: Promise<unknown>): Promise<APIError> {
    const error = await promise.then(
      () => undefined,
      (reason: unknown) => reason,
    )
    expect(error).toBeInstanceOf(APIError)
    return error as APIError
  }

  test('the SDK throws its AuthenticationError for an invalid key', async () => {
    const { host } = await world(await upstream())
    const stranger = client(host, `sk-gw-${'0'.repeat(64)}`)
    for (const ask of [
      () => stranger.chat.completions.create(request),
      () => stranger.models.list(),
    ]) {
      const error = await failure(ask())
      expect(error).toBeInstanceOf(AuthenticationError)
      expect(error).not.toBeInstanceOf(PermissionDeniedError)
      expect(error).toMatchObject({ status: 401, code: 'LM-4004', type: 'invalid_request' })
    }
  })

  test('the SDK throws one error with status 402 for an exhausted budget, with its figures', async () => {
    const vendor = await upstream()
    const { host } = await world(vendor)
    const { key } = await host.key({ budget_max: 0 })
    const poor = client(host, key, 2)
    const error = await failure(poor.chat.completions.create(request))
    expect(error).toMatchObject({
      status: 402,
      code: 'LM-4001',
      error: { scope: 'key', budget_max: 0, budget_spent: 0, reserved: 0 },
    })
    const { body } = await vi.waitFor(async () => {
      const answer = await host.admin('GET', '/admin/usage?group_by=total')
      expect(answer.body['groups']).toHaveLength(1)
      return answer
    }, 10_000)
    expect(body['groups']).toMatchObject([{ requests: 1 }])
  })

  test('the SDK throws its RateLimitError, with the time to wait', async () => {
    const { host } = await world(await upstream())
    await awayFromMinuteEnd(3_000)
    const { key } = await host.key({ rpm_limit: 1 })
    const busy = client(host, key)
    await busy.chat.completions.create(request)
    const error = await failure(busy.chat.completions.create(request))
    expect(error).toBeInstanceOf(RateLimitError)
    expect(error).toMatchObject({ status: 429, code: 'LM-4002' })
    expect(Number(error.headers?.get('retry-after'))).toBeGreaterThan(0)
    expect(error.headers?.get('x-ratelimit-remaining-requests')).toBe('0')
  })

  test('the SDK does not retry an error that waiting cannot solve', async () => {
    const { host } = await world(await upstream())
    const { key } = await host.key({ tpm_limit: 3 })
    const error = await failure(client(host, key, 3).chat.completions.create(request))
    expect(error).toMatchObject({ status: 429, code: 'LM-4003' })
    await sleep(50)
    const { body } = await host.admin('GET', '/admin/usage?group_by=total')
    expect(body['groups']).toMatchObject([{ requests: 1 }])
  })

  test('the SDK reads a stream with a key, and the rate limit headers', async () => {
    const vendor = await httpServer((request_, response) => {
      request_.resume()
      response.setHeader('content-type', 'text/event-stream')
      response.end(role + hello + stop + usageChunk + done)
    })
    const { host } = await world(vendor)
    const { key } = await host.key({ rpm_limit: 5, tpm_limit: 1000 })
    const asking = client(host, key).chat.completions.create({ ...request, stream: true })
    const { data, response } = await asking.withResponse()
    let text = ''
    for await (const chunk of data) text += chunk.choices[0]?.delta.content ?? ''
    expect(text).toBe('Hello')
    expect(response.headers.get('x-ratelimit-remaining-requests')).toBe('4')
    expect(response.headers.get('x-ratelimit-limit-tokens')).toBe('1000')
  })
})
