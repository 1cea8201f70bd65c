import { describe, expect, test } from 'vitest'
import { byProvider, makeChain } from '../support/chain.ts'
import { keyedGateway, masterKey, pricedProvider, prompt, used } from '../support/keyed-gateway.ts'
import { broken, json } from '../support/scripted-upstream.ts'

const minute = 60_000

describe('GET /admin/status', () => {
  test('the minutes count requests, tokens, cost and latencies, and lose what is an hour old', async () => {
    const gateway = await keyedGateway()
    const key = await gateway.key()
    gateway.upstream.next(async (request) => {
      await gateway.clock.advance(1000)
      return used(8, 4)(request)
    })
    await gateway.ask(key, prompt())
    await gateway.ask(key, { model: 'none' })
    const { body } = await gateway.admin('GET', '/admin/status')
    const { minutes } = body as { minutes: Record<string, number | null>[] }
    expect(minutes).toHaveLength(60)
    const { starts_at: startsAt, latency_p50_ms: p50, latency_p95_ms: p95, ...last } = minutes[59]!
    expect(last).toEqual({
      requests_ok: 1,
      requests_client_error: 1,
      requests_server_error: 0,
      tokens_in: 8,
      tokens_out: 4,
      cost: 0.000016,
    })
    expect(startsAt).toBe(Math.floor(gateway.clock.now() / minute) * 60)
    for (const latency of [p50, p95]) expect(Math.abs((latency ?? 0) / 1000 - 1)).toBeLessThan(0.1)
    await gateway.clock.advance(59 * minute)
    const later = await gateway.admin('GET', '/admin/status')
    expect(later.body).toMatchObject({ minutes: { 0: { requests_ok: 1 }, 59: { requests_ok: 0 } } })
    await gateway.clock.advance(minute)
    const { body: gone } = await gateway.admin('GET', '/admin/status')
    expect(JSON.stringify(gone['minutes'])).not.toContain('"requests_ok":1')
  })

  test('an open circuit has the reason of its last failure', async () => {
    const config = makeChain([{}, {}], 'retry_max_attempts = 1\ncircuit_failure_threshold = 1')
    const gateway = await keyedGateway(config)
    byProvider(gateway.upstream, {
      p: broken({ kind: 'network', reason: 'ECONNREFUSED' }),
      p2: json({ choices: [{ message: { content: 'Hi' }, finish_reason: 'stop' }] }),
    })
    await gateway.ask(await gateway.key(), prompt())
    const { body } = await gateway.admin('GET', '/admin/status')
    const reason = 'could not be reached or closed the connection (ECONNREFUSED)'
    expect(body).toMatchObject({
      in_flight: 0,
      providers: { p: { status: 'unknown' }, p2: { status: 'unknown' } },
      circuits: [
        { provider: 'p', model: 'm', state: 'open', last_failure: { reason } },
        { provider: 'p2', model: 'm2', state: 'closed', last_failure: null },
      ],
    })
  })

  test('each provider has the state of its credentials, in words that name the variables', async () => {
    const entry = (name: string, settings: string) =>
      `[[providers]]\nname = "${name}"\nkind = "openai"\n${settings}\nmodels = [{ id = "${name}" }]`
    const config = [
      entry('one', 'api_key_env = "ONE"'),
      entry('unset', 'api_key_env = "NOT_SET_KEY"'),
      entry('unnamed', ''),
      entry('several', 'api_key_envs = ["ONE", "TWO"]'),
      entry('part', 'api_key_envs = ["ONE", "NOT_SET_KEY"]'),
      entry('none-of-two', 'api_key_envs = ["NOT_SET_KEY", "OTHER_KEY"]'),
      entry('local', 'base_url = "http://127.0.0.1:9"'),
      '[[providers]]\nname = "demo"\nkind = "demo"\nmodels = [{ id = "demo" }]',
    ]
    const env = { ONE: 'canary-key-1', TWO: 'canary-key-2', GATEWAY_MASTER_KEY: masterKey }
    const gateway = await keyedGateway(config.join('\n'), { env })
    const { body } = await gateway.admin('GET', '/admin/status')
    expect(body['credentials']).toEqual({
      one: { state: 'present', detail: 'present' },
      unset: { state: 'missing', detail: 'NOT_SET_KEY is unset' },
      unnamed: { state: 'missing', detail: 'api_key_env is not set' },
      several: { state: 'present', detail: '2 present' },
      part: { state: 'partial', detail: '1 of 2 present: NOT_SET_KEY is unset' },
      'none-of-two': { state: 'missing', detail: 'NOT_SET_KEY and OTHER_KEY are unset' },
      local: { state: 'not_needed', detail: 'not needed' },
      demo: { state: 'not_needed', detail: 'not needed' },
    })
    expect(JSON.stringify(body)).not.toContain('canary')
    for (const [model, { state, detail }] of Object.entries<{ state: string; detail: string }>(
      Object(body['credentials']),
    )) {
      const question = { path: '/v1/chat/completions', body: { ...prompt(), model } }
      const explained = await gateway.admin('POST', '/admin/explain', question)
      expect(explained.body['links']).toMatchObject([
        { provider: model, credential: state, credential_detail: detail },
      ])
    }
  })

  test('a running request is counted', async () => {
    const gateway = await keyedGateway(pricedProvider)
    const key = await gateway.key()
    let inFlight: unknown
    gateway.upstream.next(async (request) => {
      inFlight = (await gateway.admin('GET', '/admin/status')).body['in_flight']
      return used(1, 1)(request)
    })
    await gateway.ask(key, prompt())
    expect(inFlight).toBe(1)
  })
})
