import { describe, expect, test } from 'vitest'
import { done, hello, role, wholeStream } from '../support/answers.ts'
import {
  type ClientKey,
  errorIn,
  type KeyedGateway,
  keyedGateway,
  pricedProvider,
  prompt,
  used,
} from '../support/keyed-gateway.ts'
import { settled } from '../support/manual-clock.ts'
import { broken, json, LiveUpstream, silent, stream } from '../support/scripted-upstream.ts'
import { StreamReader, streamed } from '../support/stream-client.ts'

const config = `
[resilience]
retry_max_attempts = 1
circuit_failure_threshold = 100
total_timeout_ms = 5000
${pricedProvider}
[[providers.models]]
id = "vector"
capabilities = ["embed"]
modalities = ["image"]
`

/** Starts a request that holds its place until the returned function is called. */
async function occupy({ chat, upstream }: KeyedGateway, { headers }: ClientKey) {
  const live = new LiveUpstream()
  upstream.next(live.responder)
  live.push(role + hello)
  const response = await chat(streamed(), { headers })
  expect(response.status).toBe(200)
  return async () => {
    live.push(wholeStream)
    await response.text()
  }
}

/** Expects that exactly one place of a key with `max_parallel` 1 is free, and leaves it free. */
async function expectOneFreePlace(gateway: KeyedGateway, key: ClientKey): Promise<void> {
  const leave = await occupy(gateway, key)
  expect((await gateway.ask(key, prompt())).status).toBe(429)
  await leave()
}

describe('requests at once', () => {
  test('a request above the limit is refused with LM-4006 before any upstream call', async () => {
    const gateway = await keyedGateway(config)
    const key = await gateway.key({ max_parallel: 2, rpm_limit: 5 })
    const leaves = [await occupy(gateway, key), await occupy(gateway, key)]
    const refused = await gateway.ask(key, prompt())
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1'])
    expect(refused.headers.get('x-should-retry')).toBe(null)
    expect(refused.headers.get('x-ratelimit-remaining-requests')).toBe('3')
    expect(errorIn(refused)).toEqual({
      code: 'LM-4006',
      type: 'invalid_request',
      message: "the key's limit of 2 requests at once is reached",
      param: null,
      request_id: expect.any(String),
      retry_after: 1,
      scope: 'key',
    })
    expect(gateway.upstream.requests).toHaveLength(2)
    for (const leave of leaves) await leave()
    expect((await gateway.rows()).map(({ status }) => status).sort()).toEqual([200, 200, 429])
  })

  test('the keys of a group share its places', async () => {
    const gateway = await keyedGateway(config)
    const group = await gateway.group({ max_parallel: 1 })
    const [first, second] = [
      await gateway.key({ group_id: group }),
      await gateway.key({ group_id: group, max_parallel: 5 }),
    ]
    const leave = await occupy(gateway, first)
    const refused = await gateway.ask(second, prompt())
    expect(errorIn(refused)).toMatchObject({ code: 'LM-4006', scope: 'group' })
    await leave()
    await expectOneFreePlace(gateway, second)
  })

  test('a key that leaves its group keeps the place of its running request there', async () => {
    const gateway = await keyedGateway(config)
    const group = await gateway.group({ max_parallel: 1 })
    const key = await gateway.key({ group_id: group })
    const other = await gateway.key({ group_id: group })
    const leave = await occupy(gateway, key)
    await gateway.admin('PATCH', `/admin/keys/${key.id}`, { group_id: null })
    expect((await gateway.ask(other, prompt())).status).toBe(429)
    await leave()
    await expectOneFreePlace(gateway, other)
  })

  test('keys and groups show their running requests, and what these have reserved', async () => {
    const gateway = await keyedGateway(config)
    const group = await gateway.group({ budget_max: 1 })
    const key = await gateway.key({ group_id: group })
    const shown = async () => [
      (await gateway.admin('GET', `/admin/keys/${key.id}`)).body,
      (await gateway.admin('GET', `/admin/groups/${group}`)).body,
    ]
    const idle = { in_flight: 0, budget_reserved: 0 }
    expect(await shown()).toMatchObject([idle, idle])
    const leaves = [await occupy(gateway, key), await occupy(gateway, key)]
    const [ofKey, ofGroup] = await shown()
    expect(ofKey).toMatchObject({ in_flight: 2, budget_reserved: 0 })
    expect(ofGroup).toMatchObject({ in_flight: 2 })
    expect(ofGroup?.['budget_reserved']).toBeGreaterThan(0)
    for (const leave of leaves) await leave()
    expect(await shown()).toMatchObject([idle, idle])
  })

  test('a new limit counts the requests that are running', async () => {
    const gateway = await keyedGateway(config)
    const key = await gateway.key()
    const leave = await occupy(gateway, key)
    await gateway.admin('PATCH', `/admin/keys/${key.id}`, { max_parallel: 1 })
    expect((await gateway.ask(key, prompt())).status).toBe(429)
    await leave()
    await expectOneFreePlace(gateway, key)
  })

  test('a key with a limit of 0 is refused for good', async () => {
    const gateway = await keyedGateway(config)
    const refused = await gateway.ask(await gateway.key({ max_parallel: 0 }), prompt())
    expect(refused.headers.get('x-should-retry')).toBe('false')
    expect(errorIn(refused)).toMatchObject({
      message: "the key's limit of requests at once is 0: every request is refused",
    })
  })
})

describe('each end of a request frees its place once', () => {
  const chat = (gateway: KeyedGateway, key: ClientKey, init: RequestInit = {}) =>
    gateway.chat(streamed(), { headers: key.headers, ...init })

  /** Starts a stream, and returns the upstream that feeds it and the reader of its answer. */
  async function open(gateway: KeyedGateway, key: ClientKey) {
    const live = new LiveUpstream()
    gateway.upstream.next(live.responder)
    live.push(role + hello)
    return { live, response: await chat(gateway, key) }
  }

  const ends: Readonly<
    Record<string, (gateway: KeyedGateway, key: ClientKey) => Promise<unknown>>
  > = {
    'an answer': async (gateway, key) => {
      gateway.upstream.next(used(8))
      await gateway.ask(key, prompt())
    },
    'a refusal of the upstream': async (gateway, key) => {
      gateway.upstream.next(json({ error: {} }, { status: 400 }))
      await gateway.ask(key, prompt())
    },
    'a broken connection': async (gateway, key) => {
      gateway.upstream.next(broken())
      await gateway.ask(key, prompt())
    },
    'a stream that ends': async (gateway, key) => {
      gateway.upstream.next(stream([wholeStream]))
      await (await chat(gateway, key)).text()
    },
    'a stream without content': async (gateway, key) => {
      gateway.upstream.next(stream([role, done]))
      await (await chat(gateway, key)).text()
    },
    'an upstream that dies in a stream': async (gateway, key) => {
      gateway.upstream.next(stream([role, hello]))
      await (await chat(gateway, key)).text()
    },
    'a client that leaves its stream': async (gateway, key) => {
      const { response } = await open(gateway, key)
      const reader = new StreamReader(response)
      await reader.next()
      await reader.leave()
      await settled()
    },
    'a stream that ends and whose client leaves afterwards': async (gateway, key) => {
      const { live, response } = await open(gateway, key)
      const reader = new StreamReader(response)
      live.push(wholeStream)
      await reader.rest()
      await reader.leave()
    },
    'a client that leaves before its answer': async (gateway, key) => {
      gateway.upstream.next(silent())
      const controller = new AbortController()
      const pending = chat(gateway, key, { signal: controller.signal })
      await settled()
      controller.abort()
      await pending
    },
    'the total timeout in a stream': async (gateway, key) => {
      const { response } = await open(gateway, key)
      await gateway.clock.advance(5_000)
      await response.text()
    },
    'the total timeout before the answer': async (gateway, key) => {
      gateway.upstream.next(silent())
      const pending = gateway.ask(key, prompt())
      await gateway.clock.advance(5_000)
      expect((await pending).status).toBe(504)
    },
    'a remote image that may not be fetched': async (gateway, key) => {
      const body = { model: 'vector', input: [{ image: 'https://example.com/a.png' }] }
      const answer = await gateway.ask(key, body, '/v1/embeddings')
      expect(answer.status).toBeGreaterThanOrEqual(400)
    },
    'a refusal at a budget': async (gateway, key) => {
      await gateway.admin('PATCH', `/admin/keys/${key.id}`, { budget_max: 0 })
      expect((await gateway.ask(key, prompt())).status).toBe(402)
      await gateway.admin('PATCH', `/admin/keys/${key.id}`, { budget_max: null })
    },
    'a malformed body': async (gateway, key) => {
      expect((await gateway.ask(key, { model: 'm' })).status).toBe(400)
    },
  }

  test.for(Object.entries(ends))('%s', async ([, end]) => {
    const gateway = await keyedGateway(config)
    const group = await gateway.group({ max_parallel: 1 })
    const key = await gateway.key({ max_parallel: 1, group_id: group })
    await end(gateway, key)
    await expectOneFreePlace(gateway, key)
    await expectOneFreePlace(gateway, await gateway.key({ group_id: group }))
  })
})
