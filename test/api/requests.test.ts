import { describe, expect, test } from 'vitest'
import { byProvider, makeChain } from '../support/chain.ts'
import { type KeyedGateway, keyedGateway, prompt, used } from '../support/keyed-gateway.ts'
import { broken, json } from '../support/scripted-upstream.ts'

interface Row extends Record<string, unknown> {
  readonly id: string
  readonly count: number
}

interface Page {
  readonly rows: readonly Row[]
  readonly next_cursor: string | null
  readonly after: string
  readonly since: number | null
}

async function list(gateway: KeyedGateway, query = ''): Promise<Page> {
  const { status, body } = await gateway.admin('GET', `/admin/requests${query}`)
  expect(status, JSON.stringify(body)).toBe(200)
  return body as unknown as Page
}

const stranger = { id: '', secret: '', headers: { authorization: 'Bearer sk-gw-wrong' } }

describe('the rows', () => {
  test('a served request has its tokens and its cost, and each failed link with its reason', async () => {
    const gateway = await keyedGateway(makeChain([{}, {}, {}], 'retry_max_attempts = 2'))
    const group = await gateway.group()
    const key = await gateway.key({ group_id: group })
    byProvider(gateway.upstream, {
      p: broken({ kind: 'network', reason: 'ECONNREFUSED' }),
      p2: json({ error: { message: 'canary', code: 'insufficient_quota' } }, { status: 402 }),
      p3: used(8, 4),
    })
    const asking = gateway.ask(key, prompt())
    await gateway.clock.advance(60_000)
    expect((await asking).status).toBe(200)
    const failed = [
      {
        model: 'm',
        provider: 'p',
        reason: 'could not be reached or closed the connection (ECONNREFUSED)',
        attempts: 2,
        failure: 'network',
        status: null,
        code: 'ECONNREFUSED',
      },
      {
        model: 'm2',
        provider: 'p2',
        reason: 'answered with status 402 (insufficient_quota)',
        attempts: 1,
        failure: 'status',
        status: 402,
        code: 'insufficient_quota',
      },
    ]
    const { rows } = await list(gateway)
    expect(rows).toMatchObject([
      {
        id: 'u1',
        key_id: key.id,
        group_id: group,
        api: 'chat',
        stream: false,
        model: 'm',
        model_used: 'm3',
        provider: 'p3',
        status: 200,
        error_code: null,
        reason: null,
        tokens_in: 8,
        tokens_out: 4,
        attempts: 4,
        failed,
        count: 1,
      },
    ])
    const { body } = await gateway.admin('GET', '/admin/usage/export')
    expect(body).toMatchObject({ rows: [{ reason: null, failed }] })
    expect(JSON.stringify(body)).not.toContain('canary')
  })

  test.each([
    ['no key', stranger, prompt(), 401, 'LM-4004', null, 'the API key is missing or not valid'],
    [
      'an unknown model',
      undefined,
      { ...prompt(), model: 'mm' },
      404,
      'LM-2001',
      'mm',
      /^the model is not configured; did you mean m\?/,
    ],
    [
      'no messages',
      undefined,
      { model: 'm', messages: 'canary' },
      400,
      'LM-1001',
      'm',
      /^messages: must be an array/,
    ],
  ] as const)('a request with %s is kept, and counts in no sum', async (...given) => {
    const [, sender, body, status, code, model, reason] = given
    const gateway = await keyedGateway()
    const group = await gateway.group()
    const key = await gateway.key({ group_id: group })
    await gateway.ask(sender ?? key, body)
    const known = { key_id: sender ? null : key.id, group_id: sender ? null : group }
    const { rows } = await list(gateway)
    expect(rows).toMatchObject([
      { id: 'r1', ...known, model, provider: null, status, error_code: code, failed: [], count: 1 },
    ])
    expect(rows[0]?.['reason']).toMatch(reason)
    expect(JSON.stringify(rows)).not.toContain('canary')
    const { body: sums } = await gateway.admin('GET', '/admin/usage?group_by=total')
    expect(sums).toMatchObject({ groups: [] })
  })

  test('a request for a model that its key may not use, and one beyond a limit, say so and name no provider', async () => {
    const gateway = await keyedGateway()
    const group = await gateway.group({ rpm_limit: 0 })
    await gateway.ask(await gateway.key({ models: ['other'] }), prompt())
    await gateway.ask(await gateway.key({ group_id: group }), prompt())
    const { rows } = await list(gateway)
    expect(rows).toMatchObject([
      { id: 'r1', model: 'm', provider: null, status: 403, error_code: 'LM-4005' },
      {
        id: 'u1',
        model: 'm',
        provider: null,
        status: 429,
        error_code: 'LM-4002',
        reason: "the group's request limit is 0: every request is refused",
      },
    ])
  })
})

describe('the list', () => {
  /** Served, refused by the gateway, refused by its limit, failed at the provider; a second apart. */
  async function filled() {
    const gateway = await keyedGateway()
    const [key, limited] = [await gateway.key(), await gateway.key({ rpm_limit: 0 })]
    const send = async (sender: typeof key, body: object, id: string) => {
      await gateway.get('/v1/chat/completions', {
        method: 'POST',
        headers: { ...sender.headers, 'x-request-id': id },
        body: JSON.stringify(body),
      })
      await gateway.clock.advance(1_000)
    }
    gateway.upstream.next(used(8, 4), json({}, { status: 400 }))
    await send(key, prompt(), 'served')
    await send(key, { ...prompt(), model: 'none' }, 'unknown')
    await send(limited, prompt(), 'limited')
    await send(key, prompt(), 'failed')
    return { gateway, key, limited }
  }

  const ids = ({ rows }: Page) => rows.map((row) => row['request_id'])

  test('the newest request comes first, and pages lead to the older ones', async () => {
    const { gateway } = await filled()
    const first = await list(gateway, '?limit=3')
    expect(ids(first)).toEqual(['failed', 'limited', 'unknown'])
    const rest = await list(gateway, `?limit=3&cursor=${first.next_cursor}`)
    expect(ids(rest)).toEqual(['served'])
    expect(rest.next_cursor).toBe(null)
  })

  test('after leads to what came later, the oldest first, and never to a request twice', async () => {
    const { gateway, key } = await filled()
    let { after } = await list(gateway, '?limit=1')
    expect(await list(gateway, `?after=${after}`)).toMatchObject({ rows: [], next_cursor: null })
    gateway.upstream.always(used(8, 4))
    for (const model of ['a', 'm', 'b']) {
      await gateway.ask(key, { ...prompt(), model })
      await gateway.clock.advance(1_000)
    }
    const seen: unknown[] = []
    for (let page = 0; page < 3; page++) {
      const next = await list(gateway, `?limit=2&after=${after}`)
      seen.push(next.rows.map((row) => row['model']))
      after = next.after
    }
    expect(seen).toEqual([['a', 'm'], ['b'], []])
  })

  test('after follows the requests of one key', async () => {
    const { gateway, key, limited } = await filled()
    const { after } = await list(gateway, `?key_id=${key.id}&limit=1`)
    await gateway.ask(limited, prompt())
    await gateway.ask(key, { ...prompt(), model: 'none' })
    // Without a window: the first page may be older than a day.
    await gateway.clock.advance(2 * 86_400_000)
    const { rows, since } = await list(gateway, `?key_id=${key.id}&after=${after}`)
    expect(rows).toMatchObject([{ key_id: key.id, model: 'none' }])
    expect(since).toBe(null)
  })

  test('a request that ends while a page is read is on that page or on the next', async () => {
    const { gateway, key } = await filled()
    const { store, clock } = gateway
    const read = store.listRequests.bind(store)
    const seen: unknown[] = []
    const listMeanwhile = async (query: string, id: string) => {
      store.listRequests = async (asked) => {
        store.listRequests = read
        await clock.advance(2_000)
        await gateway.chat(prompt(), { headers: { ...key.headers, 'x-request-id': id } })
        await gateway.rows()
        return read(asked)
      }
      const page = await list(gateway, `?key_id=${key.id}&${query}`)
      seen.push(...ids(page))
      return page
    }
    gateway.upstream.always(used(8, 4))
    const first = await listMeanwhile('limit=1', 'meanwhile-1')
    const second = await listMeanwhile(`after=${first.after}`, 'meanwhile-2')
    seen.push(...ids(await list(gateway, `?key_id=${key.id}&after=${second.after}`)))
    expect(seen).toEqual(['meanwhile-1', 'meanwhile-2'])
  })

  test.each([
    ['failed=true', ['failed', 'limited', 'unknown']],
    ['failed=false', ['served']],
    ['status=4xx', ['failed', 'limited', 'unknown']],
    ['status=429', ['limited']],
    ['status=200&failed=true', []],
    ['error_code=LM-2001', ['unknown']],
    ['error_code=LM-4002', ['limited']],
    ['model=m', ['failed', 'limited', 'served']],
    ['model=none', ['unknown']],
    ['provider=p', ['failed', 'limited', 'served']],
    ['request_id=unknown', ['unknown']],
    ['request_id=served', ['served']],
  ])('%s', async (query, expected) => {
    const { gateway } = await filled()
    expect(ids(await list(gateway, `?${query}`))).toEqual(expected)
    const { body } = await gateway.admin('GET', `/admin/usage/export?${query}`)
    const accounted = expected.filter((id) => id !== 'unknown')
    expect(ids(body as unknown as Page)).toEqual(accounted.toReversed())
  })

  test('a filter by key has the last day as its window, which since and until change', async () => {
    const { gateway, key, limited } = await filled()
    expect(ids(await list(gateway, `?key_id=${limited.id}`))).toEqual(['limited'])
    const now = Math.floor(gateway.clock.now() / 1000)
    const since = `since=${now - 2}`
    expect(ids(await list(gateway, `?key_id=${key.id}&${since}`))).toEqual(['failed'])
    expect(ids(await list(gateway, `?${since}`))).toEqual(['failed', 'limited'])
    await gateway.clock.advance(2 * 86_400_000)
    expect(ids(await list(gateway, `?key_id=${key.id}`))).toEqual([])
    expect(ids(await list(gateway))).toHaveLength(4)
    expect(ids(await list(gateway, '?request_id=served'))).toEqual(['served'])
  })

  test.each([
    ['cursor=1', 'cursor'],
    ['after=x.y', 'after'],
    ['cursor=1.1&after=1.1', 'after'],
    ['status=42', 'status'],
    ['status=600', 'status'],
    ['failed=yes', 'failed'],
    ['limit=0', 'limit'],
    ['key=a', 'key'],
    ['model=', 'model'],
  ])('%s is refused', async (query, param) => {
    const gateway = await keyedGateway()
    expect(await gateway.admin('GET', `/admin/requests?${query}`)).toMatchObject({
      status: 400,
      body: { error: { code: 'LM-1001', param } },
    })
  })
})

describe('many refused requests', () => {
  test('of one key and code: some rows are kept, and the last of them counts the others', async () => {
    const gateway = await keyedGateway()
    const key = await gateway.key()
    for (let count = 0; count < 50; count++) await gateway.ask(stranger, prompt())
    for (let count = 0; count < 12; count++) await gateway.ask(key, { ...prompt(), model: 'none' })
    await gateway.ask(key, { model: 'm' })
    const { rows } = await list(gateway)
    expect(rows).toHaveLength(14)
    const sum = (code: string) =>
      rows.filter((row) => row['error_code'] === code).map(({ count }) => count)
    expect(sum('LM-4004')).toEqual([48, 1, 1])
    expect(sum('LM-2001')).toEqual([3, 1, 1, 1, 1, 1, 1, 1, 1, 1])
    expect(sum('LM-1001')).toEqual([1])
    await gateway.clock.advance(1_000)
    await gateway.ask(stranger, prompt())
    expect((await list(gateway)).rows[0]).toMatchObject({ error_code: 'LM-4004', count: 1 })
  })

  test('they are written together a second later, and at the end of the process', async () => {
    const gateway = await keyedGateway()
    const writes = () => gateway.store.calls.filter((name) => name === 'addRefused').length
    for (let count = 0; count < 3; count++) await gateway.ask(stranger, prompt())
    expect(writes()).toBe(0)
    await gateway.clock.advance(1_000)
    expect(writes()).toBe(1)
    expect(gateway.store.refused).toHaveLength(3)
    await gateway.ask(stranger, prompt())
    await gateway.gateway.close()
    expect(gateway.store.refused).toHaveLength(4)
  })

  test('those that could not be written are written once the database works again', async () => {
    const gateway = await keyedGateway()
    const key = await gateway.key()
    await gateway.ask(key, { model: 'first' })
    gateway.store.trouble = 'lose-answer'
    await gateway.clock.advance(1_000)
    await gateway.ask(key, { model: 'second' })
    gateway.store.trouble = 'refuse'
    await gateway.clock.advance(1_000)
    gateway.store.trouble = 'none'
    await gateway.clock.advance(1_000)
    expect(gateway.store.refused.map(({ model }) => model)).toEqual(['first', 'second'])
  })
})
