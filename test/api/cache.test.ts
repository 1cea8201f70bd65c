import { describe, expect, test } from 'vitest'
import { completion, usage } from '../support/answers.ts'
import { cachedProvider, cacheHeaders, cacheOn } from '../support/cached.ts'
import { embed, vectors } from '../support/embed.ts'
import { series } from '../support/exposition.ts'
import { oneProvider } from '../support/gateway.ts'
import { keyedGateway, pricedProvider, prompt, readSpend, used } from '../support/keyed-gateway.ts'
import { settled } from '../support/manual-clock.ts'
import { readOkBody, rerank, rerankConfig, scores } from '../support/rerank.ts'
import { broken, json, whole } from '../support/scripted-upstream.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const config = `${cacheOn()}${oneProvider}cache = true\n`
const ask = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], temperature: 0.2 }

describe('a repeated request', () => {
  test('is answered from the cache, with the headers of the model that served', async () => {
    const { chat, upstream, clock } = await watchedGateway(config)
    upstream.next(json(completion('first')))
    const first = await chat(ask)
    await clock.advance(61_500)
    const second = await chat(ask)
    expect(cacheHeaders(first)).toEqual(['miss'])
    expect(cacheHeaders(second)).toEqual(['hit', '61'])
    expect(second.status).toBe(200)
    expect(second.headers.get('content-type')).toBe('application/json')
    expect(second.headers.get('x-gateway-model-used')).toBe('m')
    expect(second.headers.get('x-gateway-provider')).toBe('p')
    expect(second.headers.get('x-gateway-attempts')).toBe('0')
    expect(await second.text()).toBe(await first.text())
    expect(upstream.requests).toHaveLength(1)
  })

  test('differs in the order of its keys, in blanks, and in who sends it', async () => {
    const { chat, upstream } = await watchedGateway(config)
    upstream.next(json(completion('first')))
    await chat(
      '{"model":"m","messages":[{"role":"user","content":"Hi"}],"tools":[{"a":1,"b":[2,{"c":"\\u00e9"}]}],"user":"me","metadata":{"x":"1"},"stream":false}',
    )
    const again = await chat(
      '{ "tools" : [ {"b": [2, {"c": "é"}], "a": 1} ],\n"messages":[{"content":"\\u0048i","role":"user"}], "user":"you", "model":"m" }',
    )
    expect(cacheHeaders(again)).toEqual(['hit', '0'])
  })

  test.each([
    ['a number', '{"model":"m","messages":[{"role":"user","content":"Hi"}],"seed":1}'],
    ['a digit', '{"model":"m","messages":[{"role":"user","content":"Hi"}],"seed":1.0}'],
    [
      'a big number',
      '{"model":"m","messages":[{"role":"user","content":"Hi"}],"seed":9007199254740993}',
    ],
    [
      'a number that rounds to the same',
      '{"model":"m","messages":[{"role":"user","content":"Hi"}],"seed":9007199254740992}',
    ],
    ['a string', '{"model":"m","messages":[{"role":"user","content":"Hi "}],"seed":1}'],
    ['a type', '{"model":"m","messages":[{"role":"user","content":"Hi"}],"seed":"1"}'],
    [
      'the order of a list',
      '{"model":"m","messages":[{"role":"user","content":"Hi"}],"stop":["a","b"]}',
    ],
    ['another order', '{"model":"m","messages":[{"role":"user","content":"Hi"}],"stop":["b","a"]}'],
    [
      'a repeated key',
      '{"model":"m","messages":[{"role":"user","content":"Hi"}],"seed":2,"seed":1}',
    ],
  ])('is another request when it differs in %s', async (_, body) => {
    const { chat, upstream } = await watchedGateway(config)
    const others = [
      '{"model":"m","messages":[{"role":"user","content":"Hi"}],"seed":1}',
      '{"model":"m","messages":[{"role":"user","content":"Hi"}],"seed":1.0}',
      '{"model":"m","messages":[{"role":"user","content":"Hi"}],"seed":9007199254740993}',
      '{"model":"m","messages":[{"role":"user","content":"Hi"}],"seed":9007199254740992}',
      '{"model":"m","messages":[{"role":"user","content":"Hi"}],"stop":["a","b"]}',
      '{"model":"m","messages":[{"role":"user","content":"Hi"}],"stop":["b","a"]}',
    ].filter((other) => other !== body)
    upstream.always(json(completion()))
    for (const other of others) await chat(other)
    expect(cacheHeaders(await chat(body))).toEqual(['miss'])
  })

  test('is asked again after ttl_seconds', async () => {
    const { chat, upstream, clock, get } = await watchedGateway(
      `${cacheOn('ttl_seconds = 60')}${oneProvider}cache = true\n`,
    )
    upstream.next(json(completion('first')), json(completion('second')))
    await chat(ask)
    await clock.advance(59_999)
    expect(cacheHeaders(await chat(ask))).toEqual(['hit', '59'])
    await clock.advance(1)
    const fresh = await chat(ask)
    expect(cacheHeaders(fresh)).toEqual(['miss'])
    expect(await fresh.text()).toContain('second')
    const text = await (await get('/metrics')).text()
    expect(series(text, 'gateway_cache_entries')).toEqual([{ labels: {}, value: 1 }])
  })

  test('has a log line with cache_hit and no attempt', async () => {
    const { chat, upstream, log } = await watchedGateway(config)
    upstream.next(json(completion()))
    await chat(ask)
    await chat(ask)
    const lines = log.filter(({ message }) => message === 'request').map(({ fields }) => fields)
    expect(lines[0]).not.toHaveProperty('cache_hit', true)
    expect(lines[1]).toMatchObject({ cache_hit: true, attempts: 0, status: 200, model_used: 'm' })
  })
})

describe('an answer is not kept', () => {
  test.each([
    ['fails', json({ error: { message: 'no' } }, { status: 400 })],
    [
      'has no finish reason',
      json({
        ...completion(),
        choices: [{ index: 0, message: { content: 'Hi' }, finish_reason: null }],
      }),
    ],
    ['is larger than max_entry_bytes', json(completion('x'.repeat(3000)))],
  ])('when it %s', async (_, responder) => {
    const { chat, upstream } = await watchedGateway(
      `${cacheOn('max_entry_bytes = 2000')}${oneProvider}cache = true\n`,
    )
    upstream.always(responder)
    await chat(ask)
    expect(cacheHeaders(await chat(ask))).not.toContain('hit')
    expect(upstream.requests).toHaveLength(2)
  })

  test('of a model that does not allow it', async () => {
    const { chat, upstream } = await watchedGateway(`${cacheOn()}${oneProvider}`)
    upstream.always(json(completion()))
    await chat(ask)
    expect(cacheHeaders(await chat(ask))).toEqual(['bypass'])
  })

  test('while the cache is off, and no header says so', async () => {
    const { chat, upstream } = await watchedGateway(`${oneProvider}cache = true\n`)
    upstream.always(json(completion()))
    await chat(ask)
    expect(cacheHeaders(await chat(ask))).toEqual([null])
    expect(upstream.requests).toHaveLength(2)
  })

  test('of a request over 1 MiB', async () => {
    const { chat, upstream } = await watchedGateway(config)
    upstream.always(json(completion()))
    const large = { ...ask, messages: [{ role: 'user', content: 'x'.repeat(1024 * 1024) }] }
    expect(cacheHeaders(await chat(large))).toEqual(['bypass'])
  })
})

describe('the request header x-gateway-cache', () => {
  test('no-cache asks the upstream and replaces the answer', async () => {
    const { chat, upstream } = await watchedGateway(config)
    upstream.next(json(completion('first')), json(completion('second')))
    await chat(ask)
    const fresh = await chat(ask, { headers: { 'x-gateway-cache': 'No-Cache' } })
    expect(cacheHeaders(fresh)).toEqual(['miss'])
    const later = await chat(ask)
    expect(cacheHeaders(later)).toEqual(['hit', '0'])
    expect(await later.text()).toContain('second')
  })

  test('no-store neither reads nor writes, and wins over no-cache', async () => {
    const { chat, upstream } = await watchedGateway(config)
    upstream.next(json(completion('first')), json(completion('second')))
    for (const value of ['no-store', 'no-cache, no-store']) {
      const headers = { 'x-gateway-cache': value }
      expect(cacheHeaders(await chat(ask, { headers }))).toEqual(['bypass'])
    }
    upstream.next(json(completion('third')))
    expect(cacheHeaders(await chat(ask))).toEqual(['miss'])
  })
})

describe('accounts', () => {
  test('two keys never share an answer, and the keys of a group do', async () => {
    const { key, group, ask: send, upstream } = await keyedGateway(cachedProvider())
    const pool = await group()
    const [alone, other] = [await key(), await key()]
    const [member, second] = [await key({ group_id: pool }), await key({ group_id: pool })]
    upstream.always(used(8, 1))
    const results: unknown[] = []
    for (const each of [alone, other, member, second, alone]) {
      results.push(cacheHeaders(await send(each, prompt()))[0])
    }
    expect(results).toEqual(['miss', 'miss', 'miss', 'hit', 'hit'])
  })

  test('a hit costs nothing, and its row says so', async () => {
    const gateway = await keyedGateway(cachedProvider())
    const held = await gateway.key({ budget_max: 1 })
    gateway.upstream.next(used(20, 7))
    await gateway.ask(held, prompt())
    await gateway.ask(held, prompt())
    expect(await gateway.rows()).toMatchObject([
      { cacheHit: false, cost: 34_000n, attempts: 1, tokensTotal: 27 },
      { cacheHit: true, cost: 0n, attempts: 0, tokensTotal: 27, modelUsed: 'm', status: 200 },
    ])
    expect(await readSpend(gateway, held.id)).toBe(0.000034)
    const { body } = await gateway.admin('GET', '/admin/usage/export')
    expect(body).toMatchObject({ rows: [{ cache_hit: false }, { cache_hit: true, cost: 0 }] })
  })

  test('a hit counts as a request and not as tokens, and needs no budget', async () => {
    const { key, ask: send, upstream, admin } = await keyedGateway(cachedProvider())
    const held = await key({ rpm_limit: 3, tpm_limit: 30, budget_max: 1 })
    upstream.next(used(20, 7))
    await send(held, prompt())
    await admin('PATCH', `/admin/keys/${held.id}`, { budget_max: 0 })
    const hit = await send(held, prompt())
    expect(cacheHeaders(hit)).toEqual(['hit', '0'])
    expect(hit.headers.get('x-ratelimit-remaining-requests')).toBe('1')
    expect(hit.headers.get('x-ratelimit-remaining-tokens')).toBe('3')
    await send(held, prompt())
    const refused = await send(held, prompt())
    expect(refused.status).toBe(429)
    expect(refused.body).toMatchObject({ error: { code: 'LM-4002' } })
  })

  test('DELETE /admin/cache empties it, is audited and answers how many entries went', async () => {
    const { key, ask: send, upstream, admin, log, get } = await keyedGateway(cachedProvider())
    const held = await key()
    upstream.always(used(8, 1))
    await send(held, prompt())
    await send(held, prompt(9))
    expect(await admin('DELETE', '/admin/cache')).toMatchObject({
      status: 200,
      body: { deleted: 2 },
    })
    expect(await admin('DELETE', '/admin/cache')).toMatchObject({ body: { deleted: 0 } })
    expect(log).toContainEqual(
      expect.objectContaining({
        message: 'audit',
        fields: expect.objectContaining({ action: 'cache.clear' }),
      }),
    )
    expect(cacheHeaders(await send(held, prompt()))).toEqual(['miss'])
    expect((await get('/admin/cache', { method: 'DELETE' })).status).toBe(401)
  })

  test('an answer that was asked for before the cache was emptied is not kept', async () => {
    const { key, ask: send, upstream, admin } = await keyedGateway(cachedProvider())
    const held = await key()
    let open = () => {}
    upstream.next(async (request) => {
      await new Promise<void>((resolve) => {
        open = resolve
      })
      return used(8, 1)(request)
    })
    const running = send(held, prompt())
    await settled()
    await admin('DELETE', '/admin/cache')
    open()
    await running
    upstream.next(used(8, 1))
    expect(cacheHeaders(await send(held, prompt()))).toEqual(['miss'])
  })
})

describe('a hit', () => {
  test('is served while the upstream is down', async () => {
    const { chat, upstream } = await watchedGateway(config)
    upstream.next(json(completion())).always(broken())
    await chat(ask)
    expect((await chat(ask)).status).toBe(200)
  })

  test('names the fallback that served', async () => {
    const { chat, upstream } = await watchedGateway(`${cacheOn()}
[[providers]]
name = "p"
kind = "openai"
api_key_env = "P_KEY"
[[providers.models]]
id = "m"
cache = true
fallbacks = ["spare"]
[[providers.models]]
id = "spare"
`)
    upstream.next(json({}, { status: 401 }), json(completion()))
    await chat(ask)
    const hit = await chat(ask)
    expect(cacheHeaders(hit)).toEqual(['hit', '0'])
    expect(hit.headers.get('x-gateway-model-used')).toBe('spare')
  })

  test('is refused like the request that it equals, when the request is invalid', async () => {
    const { chat, upstream } = await watchedGateway(config)
    upstream.next(json(completion()))
    await chat(ask)
    expect((await chat({ ...ask, messages: [] })).status).toBe(400)
  })

  test('counts in the metrics of the cache and not in those of tokens', async () => {
    const { chat, upstream, get } = await watchedGateway(config)
    upstream.always(json(completion('Hi', { usage })))
    await chat(ask)
    await chat(ask)
    await chat(ask, { headers: { 'x-gateway-cache': 'no-store' } })
    const text = await (await get('/metrics')).text()
    expect(series(text, 'gateway_cache_requests_total')).toEqual([
      { labels: { result: 'miss' }, value: 1 },
      { labels: { result: 'hit' }, value: 1 },
      { labels: { result: 'bypass' }, value: 1 },
    ])
    const input = series(text, 'gateway_tokens_total').find(
      ({ labels }) => labels['direction'] === 'input',
    )
    expect(input?.value).toBe(2 * usage.prompt_tokens)
    const [bytes] = series(text, 'gateway_cache_bytes')
    expect(bytes?.value).toBeGreaterThan(1024)
  })
})

describe('other capabilities', () => {
  test('embeddings are cached, by encoding and with their media', async () => {
    const gateway = await watchedGateway(`${cacheOn()}
[[providers]]
name = "p"
kind = "openai"
api_key_env = "P_KEY"
[[providers.models]]
id = "m"
capabilities = ["embed"]
cache = true
`)
    gateway.upstream.always(vectors([[0.1, 0.2]], 3))
    const first = await embed(gateway, { input: 'Hi' })
    const second = await embed(gateway, { input: 'Hi' })
    expect(cacheHeaders(second)).toEqual(['hit', '0'])
    expect(await second.text()).toBe(await first.text())
    expect(cacheHeaders(await embed(gateway, { input: 'Hi', encoding_format: 'base64' }))).toEqual([
      'miss',
    ])
  })

  test('a large embeddings answer is kept as a whole', async () => {
    const gateway = await watchedGateway(`${cacheOn()}
[[providers]]
name = "p"
kind = "openai"
api_key_env = "P_KEY"
[[providers.models]]
id = "m"
capabilities = ["embed"]
cache = true
`)
    const vector = Array.from({ length: 20_000 }, (_, at) => at / 3)
    gateway.upstream.next(vectors([vector], 3))
    const first = await embed(gateway, { input: 'Hi' })
    const second = await embed(gateway, { input: 'Hi' })
    expect(cacheHeaders(second)).toEqual(['hit', '0'])
    const text = await second.text()
    expect(text.length).toBeGreaterThan(200_000)
    expect(text).toBe(await first.text())
  })

  test('rerank is cached, with its search units', async () => {
    const base = rerankConfig({ kind: 'cohere' })
    const gateway = await watchedGateway(`${cacheOn()}${base}\ncache = true\n`)
    gateway.upstream.next(scores([[0, 0.4]], { meta: { billed_units: { search_units: 1 } } }))
    const request = { query: 'q', documents: ['a'] }
    const first = await rerank(gateway, request)
    const second = await rerank(gateway, request)
    expect(cacheHeaders(second)).toEqual(['hit', '0'])
    expect(await readOkBody(second)).toEqual(await readOkBody(first))
  })
})

test('a priced model without auth is cached for everyone', async () => {
  const { chat, upstream } = await watchedGateway(`${cacheOn()}${pricedProvider}cache = true\n`)
  upstream.next(whole(JSON.stringify(completion())))
  await chat(ask)
  expect(cacheHeaders(await chat(ask))).toEqual(['hit', '0'])
})
