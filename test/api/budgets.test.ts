import { describe, expect, test } from 'vitest'
import { done, hello, role, stop, usageChunk } from '../support/answers.ts'
import { vectors } from '../support/embed.ts'
import {
  type Answer,
  type ClientKey,
  errorIn,
  type KeyedGateway,
  keyedGateway,
  pricedProvider,
  prompt,
  readSpend,
  used,
} from '../support/keyed-gateway.ts'
import { settled } from '../support/manual-clock.ts'
import { broken, json, LiveUpstream, type Responder, stream } from '../support/scripted-upstream.ts'
import { StreamReader, streamed } from '../support/stream-client.ts'

/** Converts nano-dollars to the dollars of the admin API. */
const usd = (nano: number) => nano / 1e9

/** The reservation of `prompt()` at `pricedProvider`: 8 prompt and 256 assumed output tokens. */
const assumed = usd(8 * 1000 + 256 * 2000)

/** Returns the 402 of a request with a key of this budget; undefined when it is admitted. */
async function refusalAt(
  gateway: KeyedGateway,
  budget_max: number,
  body: object,
  path?: string,
): Promise<Record<string, unknown> | undefined> {
  const key = await gateway.key({ budget_max })
  const answer = await gateway.ask(key, body, path)
  return answer.status === 402 ? errorIn(answer) : undefined
}

/** Checks that exactly this budget admits the request, and one nano-dollar less does not. */
async function expectReservation(
  gateway: KeyedGateway,
  nano: number,
  body: object = prompt(),
  path?: string,
): Promise<void> {
  expect(await refusalAt(gateway, usd(nano - 1), body, path)).toMatchObject({ scope: 'key' })
  expect(await refusalAt(gateway, usd(nano), body, path)).toBe(undefined)
}

const twoPrices = (first: number, second: number) => `
[[providers]]
name = "p"
kind = "openai"
base_url = "https://p.test"
models = [{ id = "m", cost_per_1m_output = ${first}, fallbacks = ["n"] }]
[[providers]]
name = "q"
kind = "openai"
base_url = "https://q.test"
models = [{ id = "n", cost_per_1m_output = ${second} }]
[resilience]
retry_max_attempts = 1
`

describe('reservations', () => {
  test('a request reserves its prompt and the default output when nothing bounds the output', async () => {
    const gateway = await keyedGateway()
    gateway.upstream.always(used(1))
    await expectReservation(gateway, 8 * 1000 + 256 * 2000)
    await expectReservation(gateway, 100 * 1000 + 256 * 2000, prompt(100))
  })

  test('auth.reserve_output_tokens replaces the default output', async () => {
    const gateway = await keyedGateway(pricedProvider, { auth: 'reserve_output_tokens = 10' })
    gateway.upstream.always(used(1))
    await expectReservation(gateway, 8 * 1000 + 10 * 2000)
  })

  test('the model’s bound applies when the request sets none', async () => {
    const gateway = await keyedGateway(`${pricedProvider}max_output_tokens = 1000\n`)
    gateway.upstream.always(used(1))
    await expectReservation(gateway, 8 * 1000 + 1000 * 2000)
    await expectReservation(gateway, 8 * 1000 + 5 * 2000, prompt(8, { max_tokens: 5 }))
  })

  test.each([
    [{ max_tokens: 50 }, 50],
    [{ max_completion_tokens: 60 }, 60],
    [{ max_completion_tokens: 60, max_tokens: 50 }, 60],
    [{ max_completion_tokens: 50, max_tokens: 60 }, 60],
    [{ max_completion_tokens: 1, max_tokens: 2, max_output_tokens: 60 }, 60],
    [{ max_completion_tokens: null, max_tokens: 50 }, 50],
    [{ n: 3 }, 3 * 256],
    [{ n: 3, max_tokens: 50 }, 3 * 50],
  ])('the reservation covers the output that %j allows', async (bounds, tokens) => {
    const gateway = await keyedGateway()
    gateway.upstream.always(used(1))
    await expectReservation(gateway, 8 * 1000 + tokens * 2000, prompt(8, bounds))
  })

  test.each([
    ['the fallback', 1, 7],
    ['the primary', 7, 1],
  ])('the dearest link of the chain sets the price: %s', async (_, first, second) => {
    const gateway = await keyedGateway(twoPrices(first, second))
    gateway.upstream.always(used(1))
    await expectReservation(gateway, 10 * 7000, prompt(8, { max_tokens: 10 }))
  })

  test('an embeddings request reserves its input alone', async () => {
    const gateway = await keyedGateway(`${pricedProvider}capabilities = ["embed"]\n`)
    gateway.upstream.always(vectors([[1]], 0))
    const input = { model: 'm', input: 'x'.repeat(400) }
    await expectReservation(gateway, 100 * 1000, input, '/v1/embeddings')
  })

  test('a rerank request reserves its search units', async () => {
    const gateway = await keyedGateway(reranker)
    gateway.upstream.always(ranking)
    // 150 documents are 2 units at 2 USD per thousand.
    await expectReservation(gateway, 2 * 2_000_000, makeRerankRequest(150), '/v1/rerank')
  })

  test('a key and a group without caps reserve nothing and are still charged', async () => {
    const gateway = await keyedGateway()
    const pool = await gateway.group()
    const key = await gateway.key({ group_id: pool })
    gateway.upstream.next(used(8, 4))
    await gateway.ask(key, prompt())
    expect(await readSpend(gateway, key.id)).toBe(0.000016)
    expect(await readSpend(gateway, pool, 'groups')).toBe(0.000016)
  })
})

const reranker = `
[[providers]]
name = "p"
kind = "cohere"
api_key_env = "P_KEY"
models = [{ id = "m", capabilities = ["rerank"], cost_per_1k_searches = 2 }]
`

const ranking: Responder = (request) => {
  const { documents } = JSON.parse(new TextDecoder().decode(request.body)) as {
    documents: unknown[]
  }
  const results = documents.map((_, index) => ({ index, relevance_score: 0.5 }))
  return json({ results, meta: { billed_units: { search_units: 1 } } })(request)
}

const makeRerankRequest = (count: number) => ({
  model: 'm',
  query: 'q',
  documents: Array.from({ length: count }, () => 'd'),
})

describe('charges', () => {
  test('a request is charged for its usage, with cached tokens at their own price', async () => {
    const gateway = await keyedGateway(
      `${pricedProvider}cost_per_1m_cached_input = 0.1\ncost_per_1m_cache_write = 1.25\n`,
    )
    const key = await gateway.key({ budget_max: 1 })
    const details = { cached_tokens: 600, cache_creation_tokens: 200 }
    gateway.upstream.next(used(1000, 10, { prompt_tokens_details: details }))
    await gateway.ask(key, prompt())
    const cost = 200 * 1000 + 600 * 100 + 200 * 1250 + 10 * 2000
    expect(await readSpend(gateway, key.id)).toBe(usd(cost))
    expect(await gateway.rows()).toMatchObject([
      { cost: BigInt(cost), cachedTokens: 600, cacheWriteTokens: 200 },
    ])
  })

  test.each([
    ['', 1250],
    ['cost_per_1m_cache_write_1h = 2\n', 2000],
  ])('tokens written to a cache for an hour have their own price: %j', async (price, perToken) => {
    const claude = pricedProvider.replace('kind = "openai"', 'kind = "anthropic"')
    const gateway = await keyedGateway(`${claude}cost_per_1m_cache_write = 1.25\n${price}`)
    const key = await gateway.key({ budget_max: 1 })
    gateway.upstream.next(
      json({
        content: [{ type: 'text', text: 'Hi' }],
        usage: {
          input_tokens: 100,
          output_tokens: 10,
          cache_creation_input_tokens: 300,
          cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 200 },
        },
      }),
    )
    await gateway.ask(key, prompt())
    const cost = 100 * 1000 + 100 * 1250 + 200 * perToken + 10 * 2000
    expect(await gateway.rows()).toMatchObject([{ cost: BigInt(cost), cacheWriteTokens: 300 }])
  })

  test('a request is charged an estimate when the upstream reports no usage', async () => {
    const gateway = await keyedGateway()
    const key = await gateway.key({ budget_max: 1 })
    gateway.upstream.next(json({ choices: [{ message: { content: 'Hello' } }] }))
    const answer = await gateway.ask(key, prompt())
    expect(answer.body['usage']).toMatchObject({ prompt_tokens: 8, completion_tokens: 2 })
    expect(await readSpend(gateway, key.id)).toBe(usd(12_000))
    expect(await gateway.rows()).toMatchObject([{ estimated: true, cost: 12_000n }])
  })

  test('a request is charged at the prices of the link that served it', async () => {
    const gateway = await keyedGateway(twoPrices(7, 1))
    const key = await gateway.key({ budget_max: 1 })
    gateway.upstream.next(json({}, { status: 500 }), used(8, 10))
    const answer = await gateway.ask(key, prompt())
    expect(answer.headers.get('x-gateway-model-used')).toBe('n')
    expect(await readSpend(gateway, key.id)).toBe(usd(10_000))
    expect(await gateway.rows()).toMatchObject([
      { model: 'm', modelUsed: 'n', provider: 'q', attempts: 2, cost: 10_000n },
    ])
  })

  test('embeddings are charged by tokens, rerank by search units and tokens, as priced', async () => {
    const embedder = await keyedGateway(`${pricedProvider}capabilities = ["embed"]\n`)
    const key = await embedder.key({ budget_max: 1 })
    embedder.upstream.next(vectors([[1]], 77))
    await embedder.ask(key, { model: 'm', input: 'x' }, '/v1/embeddings')
    expect(await readSpend(embedder, key.id)).toBe(usd(77_000))
    expect(await embedder.rows()).toMatchObject([
      { capability: 'embed', tokensIn: 77, tokensOut: 0, cost: 77_000n },
    ])

    const ranker = await keyedGateway(reranker.replace('= 2 }', '= 2, cost_per_1m_input = 1 }'))
    const other = await ranker.key({ budget_max: 1 })
    ranker.upstream.always(ranking)
    const { body } = await ranker.ask(other, makeRerankRequest(3), '/v1/rerank')
    // Each of the four texts is one letter, so one token; the query is sent with each document.
    const { total_tokens: tokens } = body['usage'] as { total_tokens: number }
    expect(await readSpend(ranker, other.id)).toBe(usd(2_000_000 + tokens * 1000))
    expect(await ranker.rows()).toMatchObject([
      { capability: 'rerank', searchUnits: 1, tokensTotal: tokens },
    ])
  })

  test('the group that the key was in at admission is charged', async () => {
    const gateway = await keyedGateway()
    const [before, after] = [await gateway.group(), await gateway.group()]
    const key = await gateway.key({ group_id: before })
    const live = new LiveUpstream()
    gateway.upstream.next(live.responder)
    live.push(role + hello)
    const response = await gateway.chat(streamed(), { headers: key.headers })
    await gateway.admin('PATCH', `/admin/keys/${key.id}`, { group_id: after })
    live.push(stop + usageChunk + done)
    await response.text()
    expect(await readSpend(gateway, before, 'groups')).toBe(usd(13_000))
    expect(await readSpend(gateway, after, 'groups')).toBe(0)
    expect(await gateway.rows()).toMatchObject([{ groupId: before, cost: 13_000n }])
  })

  test('small charges add up exactly', async () => {
    const gateway = await keyedGateway(pricedProvider.replace('input = 1', 'input = 0.1'))
    const key = await gateway.key({ budget_max: 1 })
    gateway.upstream.always(used(1))
    for (let request = 0; request < 30; request++) await gateway.ask(key, prompt())
    expect(await readSpend(gateway, key.id)).toBe(0.000003)
  })
})

describe('budget refusals', () => {
  test.each(['key', 'group'])('a 402 names the %s whose budget is spent', async (scope) => {
    const gateway = await keyedGateway()
    const capped = { budget_max: 0.001 }
    const pool = await gateway.group(scope === 'group' ? capped : {})
    const key = await gateway.key({ group_id: pool, ...(scope === 'key' && capped) })
    const live = new LiveUpstream()
    gateway.upstream.next(used(8, 4), live.responder)
    await gateway.ask(key, prompt())
    live.push(role + hello)
    const running = await gateway.chat(streamed({ max_tokens: 300 }), { headers: key.headers })
    const refused = await gateway.ask(key, prompt())
    expect(refused.status).toBe(402)
    expect(refused.headers.get('retry-after')).toBe(null)
    expect(errorIn(refused)).toEqual({
      code: 'LM-4001',
      type: 'invalid_request',
      message: `the ${scope}'s remaining budget is below the estimated cost of this request`,
      param: null,
      request_id: expect.any(String),
      scope,
      budget_max: 0.001,
      budget_spent: 0.000016,
      reserved: 0.000608,
    })
    live.push(stop + usageChunk + done)
    await running.text()
    gateway.upstream.next(used(8))
    expect((await gateway.ask(key, prompt())).status).toBe(200)
  })

  test('a spent budget refuses even the smallest request', async () => {
    const gateway = await keyedGateway()
    const key = await gateway.key({ budget_max: 0.00001 })
    gateway.upstream.next(used(8, 4))
    await gateway.ask(key, prompt(8, { max_tokens: 1 }))
    const refused = await gateway.ask(key, prompt(8, { max_tokens: 1 }))
    expect(errorIn(refused)).toMatchObject({ message: "the key's budget is exhausted" })
  })

  test('a refusal comes before any upstream call, and a grant ends it', async () => {
    const gateway = await keyedGateway()
    const key = await gateway.key({ budget_max: 0 })
    expect((await gateway.ask(key, prompt())).status).toBe(402)
    expect(gateway.upstream.requests).toEqual([])
    await gateway.admin('POST', `/admin/keys/${key.id}/grant`, { amount: assumed })
    gateway.upstream.next(used(8))
    expect((await gateway.ask(key, prompt())).status).toBe(200)
  })

  test('concurrent grants all count', async () => {
    const gateway = await keyedGateway()
    const key = await gateway.key({ budget_max: 0 })
    const grant = () => gateway.admin('POST', `/admin/keys/${key.id}/grant`, { amount: 0.1 })
    await Promise.all(Array.from({ length: 20 }, grant))
    expect((await gateway.admin('GET', `/admin/keys/${key.id}`)).body['budget_max']).toBe(2)
  })
})

describe('the order of the limits', () => {
  /** A key whose limits are all 0, in a group with a budget of 0. */
  async function exhaustedKey(): Promise<{ gateway: KeyedGateway; key: ClientKey; pool: string }> {
    const gateway = await keyedGateway()
    const pool = await gateway.group({ budget_max: 0 })
    const limits = { rpm_limit: 0, tpm_limit: 0, budget_max: 0 }
    return { gateway, key: await gateway.key({ ...limits, group_id: pool }), pool }
  }

  test('requests, tokens, the key’s budget and the group’s budget are checked in this order, and a refusal takes nothing', async () => {
    const { gateway, key, pool } = await exhaustedKey()
    gateway.upstream.next(used(8))
    const refusals: unknown[] = []
    for (const next of [{}, { rpm_limit: 1 }, { tpm_limit: 8 }, { budget_max: 1 }]) {
      await gateway.admin('PATCH', `/admin/keys/${key.id}`, next)
      const { code, scope } = errorIn(await gateway.ask(key, prompt()))
      refusals.push([code, scope])
    }
    expect(refusals).toEqual([
      ['LM-4002', 'key'],
      ['LM-4003', 'key'],
      ['LM-4001', 'key'],
      ['LM-4001', 'group'],
    ])
    // If a refusal had used the one request or the eight tokens, this request would be refused too.
    await gateway.admin('PATCH', `/admin/groups/${pool}`, { budget_max: 1 })
    const answer = await gateway.ask(key, prompt())
    expect(answer.status).toBe(200)
    expect(answer.headers.get('x-ratelimit-remaining-requests')).toBe('0')
    expect(answer.headers.get('x-ratelimit-remaining-tokens')).toBe('0')
  })
})

describe('a request that fails after admission', () => {
  const failures: readonly (readonly [string, readonly Responder[], string])[] = [
    ['500 again and again', [500, 500, 500].map((status) => json({}, { status })), 'LM-3003'],
    ['no connection', [broken(), broken(), broken()], 'LM-3003'],
    ['a refusal', [json({ error: { message: 'no' } }, { status: 400 })], 'LM-3003'],
    ['a stream without content', [1, 2, 3].map(() => stream([role, done])), 'LM-3010'],
  ]

  test.each(failures)(
    'a failure (%s) frees the reservation and keeps the TPM debit',
    async (_, script, code) => {
      const gateway = await keyedGateway(`[resilience]\nretry_base_ms = 0\n${pricedProvider}`)
      const key = await gateway.key({ budget_max: assumed, rpm_limit: 9, tpm_limit: 100 })
      gateway.upstream.next(...script)
      const streams = code === 'LM-3010'
      const answer = gateway.ask(key, prompt(20, { stream: streams, max_tokens: 5 }))
      await gateway.clock.advance(1_000)
      expect(errorIn(await answer)).toMatchObject({ code })
      gateway.upstream.next(used(1))
      // The whole budget is available again.
      const next = await gateway.ask(key, prompt())
      expect(next.status).toBe(200)
      expect(next.headers.get('x-ratelimit-remaining-requests')).toBe('7')
      expect(next.headers.get('x-ratelimit-remaining-tokens')).toBe(String(100 - 25 - 8))
      expect(await gateway.rows()).toMatchObject([{ cost: 0n, errorCode: code }, { cost: 1000n }])
    },
  )
})

describe('an invalid request leaves no trace in any account', () => {
  const strictVendor = `
    [[providers]]
    name = "p"
    kind = "anthropic"
    api_key_env = "P_KEY"
    models = [{ id = "m", cost_per_1m_input = 1 }]
  `
  const remote = { type: 'image_url', image_url: { url: 'https://a.test/i.png' } }
  const wrong: readonly (readonly [string, string, object, string])[] = [
    ['an unknown model', pricedProvider, { ...prompt(), model: 'x' }, 'LM-2001'],
    [
      'a capability that the model lacks',
      `${pricedProvider}[[providers.models]]\nid = "e"\ncapabilities = ["embed"]\n`,
      { ...prompt(), model: 'e' },
      'LM-2002',
    ],
    [
      'an image for a text-only model',
      pricedProvider,
      { model: 'm', messages: [{ role: 'user', content: [remote] }] },
      'LM-2003',
    ],
    ['a malformed field', pricedProvider, prompt(8, { n: 0 }), 'LM-1001'],
    // Found only when the request is translated to the vendor's format.
    [
      'a message that the vendor’s format cannot express',
      strictVendor,
      { model: 'm', messages: [{ role: 'tool', content: 'x' }] },
      'LM-1001',
    ],
  ]

  test.each(wrong)('%s', async (_, config, body, code) => {
    const gateway = await keyedGateway(config)
    const key = await gateway.key({ budget_max: 1, rpm_limit: 1, tpm_limit: 1000 })
    expect(errorIn(await gateway.ask(key, body))).toMatchObject({ code })
    expect(gateway.upstream.requests).toEqual([])
    expect(await gateway.rows()).toEqual([])
    expect(gateway.log.at(-1)?.fields).toMatchObject({ key_id: key.id, error_code: code })
    expect(await readRemaining(gateway, key)).toEqual({ requests: '1', tokens: '1000' })
    expect(await readSpend(gateway, key.id)).toBe(0)
  })

  /** Reads the remaining requests and tokens of the minute from the headers of a refusal. */
  async function readRemaining({ ask }: KeyedGateway, key: ClientKey) {
    const { headers } = await ask(key, prompt(2_000))
    return {
      requests: headers.get('x-ratelimit-remaining-requests'),
      tokens: headers.get('x-ratelimit-remaining-tokens'),
    }
  }
})

describe('an interrupted stream is charged for what it streamed', () => {
  // The prompt is 8 tokens; every `Hello` is 2.
  const cost = 8 * 1000 + 2 * 2000

  test('a client that leaves is a 499, and its TPM debit stays', async () => {
    const gateway = await keyedGateway()
    const key = await gateway.key({ budget_max: 1, tpm_limit: 1000 })
    const live = new LiveUpstream()
    gateway.upstream.next(live.responder)
    live.push(role + hello)
    const response = await gateway.chat(streamed({ max_tokens: 100 }), { headers: key.headers })
    const reader = new StreamReader(response)
    await reader.next()
    await reader.leave()
    await settled()
    expect(live.released).toBe('cancel')
    expect(await readSpend(gateway, key.id)).toBe(usd(cost))
    expect(await gateway.rows()).toMatchObject([
      { status: 499, errorCode: 'LM-6001', cost: BigInt(cost), tokensOut: 2, estimated: true },
    ])
    gateway.upstream.next(used(1))
    const next = await gateway.ask(key, prompt())
    expect(next.headers.get('x-ratelimit-remaining-tokens')).toBe(String(1000 - 108 - 8))
  })

  test('the charge is made when the upstream dies', async () => {
    const gateway = await keyedGateway()
    const key = await gateway.key({ budget_max: 1 })
    gateway.upstream.next(stream([role, hello]))
    const response = await gateway.chat(streamed(), { headers: key.headers })
    expect(await response.text()).toContain('LM-3010')
    expect(await readSpend(gateway, key.id)).toBe(usd(cost))
    expect(await gateway.rows()).toMatchObject([
      { status: 502, errorCode: 'LM-3010', cost: BigInt(cost), modelUsed: 'm' },
    ])
  })

  test('the charge is made when the total timeout ends the stream', async () => {
    const gateway = await keyedGateway(`[resilience]\ntotal_timeout_ms = 1000\n${pricedProvider}`)
    const key = await gateway.key({ budget_max: 1 })
    const slow = new LiveUpstream()
    gateway.upstream.next(slow.responder)
    slow.push(role + hello)
    const response = await gateway.chat(streamed(), { headers: key.headers })
    await gateway.clock.advance(1_000)
    expect(await response.text()).toContain('LM-3013')
    expect(await gateway.rows()).toMatchObject([{ status: 504, cost: BigInt(cost) }])
  })

  test('the charge is made when the gateway shuts down', async () => {
    const gateway = await keyedGateway()
    const key = await gateway.key({ budget_max: 1 })
    const slow = new LiveUpstream()
    gateway.upstream.next(slow.responder)
    slow.push(role + hello)
    const response = await gateway.chat(streamed(), { headers: key.headers })
    gateway.gateway.drain()
    expect(await response.text()).toContain('"error"')
    await gateway.gateway.close()
    expect(gateway.store.usage).toMatchObject([{ cost: BigInt(cost) }])
    expect([...gateway.store.keys.values()]).toMatchObject([{ budgetSpent: BigInt(cost) }])
  })
})

describe('concurrent requests', () => {
  test('concurrent requests never spend and reserve more than the budget, and leave nothing reserved', async () => {
    const gateway = await keyedGateway()
    const pool = await gateway.group({ budget_max: 0.001 })
    const keys = await Promise.all(
      [1, 2, 3, 4].map(() => gateway.key({ group_id: pool, budget_max: 0.0004 })),
    )
    // Each request reserves 28,000 nano-dollars and costs 21,000; a third of them fail.
    let calls = 0
    gateway.upstream.always(async (request) => {
      await settled()
      return calls++ % 3 === 0 ? json({}, { status: 400 })(request) : used(1, 10)(request)
    })
    const answers: Answer[] = await Promise.all(
      Array.from({ length: 200 }, (_, at) =>
        gateway.ask(keys[at % 4] as ClientKey, prompt(8, { max_tokens: 10 })),
      ),
    )
    const refusals = answers.filter(({ status }) => status === 402).map(errorIn)
    expect(refusals.length).toBeGreaterThan(100)
    for (const { budget_max: max, budget_spent: spent, reserved } of refusals) {
      expect(Number(spent) + Number(reserved)).toBeLessThanOrEqual(Number(max) + usd(1) / 2)
    }
    expect(await readSpend(gateway, pool, 'groups')).toBeLessThanOrEqual(0.001)
  })
})
