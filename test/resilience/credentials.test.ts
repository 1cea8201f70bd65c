import { describe, expect, test } from 'vitest'
import { check } from '../../adapters/node/commands/check.ts'
import { authorizedUser, token } from '../providers/vertex/support.ts'
import { wholeStream } from '../support/answers.ts'
import { called } from '../support/chain.ts'
import { expectErrorShape } from '../support/contract.ts'
import { masterKey, prompt } from '../support/keyed-gateway.ts'
import { reloadingGateway } from '../support/reloading-gateway.ts'
import { json, type Responder, stream } from '../support/scripted-upstream.ts'
import {
  answer,
  byVariable,
  env,
  listVariables,
  provider,
  refuse,
  request,
  sendTimes,
  withFallback,
} from '../support/several-keys.ts'
import { streamed } from '../support/stream-client.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

describe('several credentials of a provider', () => {
  test('requests carry them in turn, that of api_key_env first', async () => {
    const gateway = await watchedGateway(provider('api_key_env = "C"'), { env })
    gateway.upstream.always(answer)
    await sendTimes(gateway, 4)
    expect(listVariables(gateway.upstream)).toEqual(['C', 'A', 'B', 'C'])
  })

  test('an attempt goes on at once with the next credential after 429, 401, 402, 403 and 407', async () => {
    for (const status of [429, 401, 402, 403, 407]) {
      const gateway = await watchedGateway(provider(), { env })
      byVariable(gateway.upstream, { A: refuse(status) })
      const response = await gateway.chat(request)
      expect(response.status).toBe(200)
      expect(response.headers.get('x-gateway-attempts')).toBe('2')
      expect(listVariables(gateway.upstream)).toEqual(['A', 'B'])
      // The threshold is 1, and the circuit is still closed.
      expect(await sendTimes(gateway, 2)).toEqual([200, 200])
    }
  })

  test('a stream goes on with the next credential too', async () => {
    const gateway = await watchedGateway(provider(), { env })
    byVariable(gateway.upstream, { A: refuse(429), B: stream([wholeStream]) })
    const response = await gateway.chat(streamed())
    expect(await response.text()).toContain('[DONE]')
    expect(listVariables(gateway.upstream)).toEqual(['A', 'B'])
  })

  test.each([400, 404, 408, 413, 500])('status %i parks no credential', async (status) => {
    const gateway = await watchedGateway(
      provider().replace('failure_threshold = 1', 'failure_threshold = 9'),
      { env },
    )
    byVariable(gateway.upstream, { A: refuse(status) })
    await sendTimes(gateway, 3)
    expect(listVariables(gateway.upstream)).toEqual(['A', 'B', 'A'])
  })

  test('a retry carries the next credential', async () => {
    const gateway = await watchedGateway(
      provider().replace('attempts = 1', 'attempts = 2').replace('threshold = 1', 'threshold = 9'),
      { env },
    )
    byVariable(gateway.upstream, { A: refuse(500) })
    const pending = gateway.chat(request)
    await gateway.clock.advance(1000)
    expect((await pending).status).toBe(200)
    expect(listVariables(gateway.upstream)).toEqual(['A', 'B'])
  })

  test('the parts of an embeddings request carry them in turn', async () => {
    const models = '{ id = "e", capabilities = ["embed"] }'
    const gateway = await watchedGateway(provider('', models), { env })
    const vectors = (call: { readonly body?: Uint8Array | undefined }) => {
      const { input } = JSON.parse(new TextDecoder().decode(call.body)) as { input: string[] }
      const data = input.map((_, index) => ({ index, embedding: [1, 2] }))
      return json({ data, usage: { prompt_tokens: 1, total_tokens: 1 } })
    }
    gateway.upstream.always((call) =>
      call.headers['authorization'] === `Bearer ${env.A}` ? refuse(429)(call) : vectors(call)(call),
    )
    const input = Array.from({ length: 5000 }, (_, at) => `text ${at}`)
    const response = await gateway.get('/v1/embeddings', {
      method: 'POST',
      body: JSON.stringify({ model: 'e', input }),
    })
    expect(await response.json()).toMatchObject({ object: 'list' })
    expect(new Set(listVariables(gateway.upstream))).toEqual(new Set(['A', 'B']))
  })
})

describe('a parked credential', () => {
  test.each([
    ['for its Retry-After', { 'retry-after': '7' }, 7_000],
    ['for 10 seconds without Retry-After', {}, 10_000],
  ])('a rate limit parks it %s', async (_, headers, wait) => {
    const gateway = await watchedGateway(provider(), { env })
    byVariable(gateway.upstream, { A: refuse(429, headers) })
    await sendTimes(gateway, 3)
    await gateway.clock.advance(wait - 1)
    await sendTimes(gateway, 2)
    expect(listVariables(gateway.upstream)).toEqual(['A', 'B', 'B', 'B', 'B', 'B'])
    await gateway.clock.advance(1)
    byVariable(gateway.upstream, {})
    await sendTimes(gateway, 2)
    expect(listVariables(gateway.upstream).slice(6).toSorted()).toEqual(['A', 'B'])
  })

  test('a reload brings back a refused credential', async () => {
    const gateway = await reloadingGateway(provider(), {
      env: { ...env, GATEWAY_MASTER_KEY: masterKey },
    })
    const key = await gateway.key()
    const ask = () => gateway.ask(key, prompt())
    byVariable(gateway.upstream, { A: refuse(401) })
    await ask()
    await gateway.clock.advance(59_999)
    await ask()
    await ask()
    expect(listVariables(gateway.upstream)).toEqual(['A', 'B', 'B', 'B'])
    await gateway.change(provider())
    await ask()
    expect(listVariables(gateway.upstream).slice(4)).toEqual(['A', 'B'])
    // The refusal before the reload does not count.
    await gateway.clock.advance(60_000)
    byVariable(gateway.upstream, {})
    await ask()
    await ask()
    expect(new Set(listVariables(gateway.upstream).slice(6))).toEqual(new Set(['A', 'B']))
  })

  test('a reload that is refused keeps it parked', async () => {
    const gateway = await reloadingGateway(provider(), {
      env: { ...env, GATEWAY_MASTER_KEY: masterKey },
    })
    const key = await gateway.key()
    byVariable(gateway.upstream, { A: refuse(401) })
    await gateway.ask(key, prompt())
    await gateway.change('[broken')
    await gateway.ask(key, prompt())
    await gateway.ask(key, prompt())
    expect(listVariables(gateway.upstream)).toEqual(['A', 'B', 'B', 'B'])
  })

  test.each([
    [401, ['A', 'B', 'B', 'B', 'B', 'B']],
    [407, ['A', 'B', 'B', 'B', 'B', 'B']],
    [402, ['A', 'B', 'B', 'A', 'B', 'B']],
    [403, ['A', 'B', 'B', 'A', 'B', 'B']],
  ])('a %i parks it for all models or for its own', async (status, variables) => {
    const gateway = await watchedGateway(provider(), { env })
    byVariable(gateway.upstream, { A: refuse(status) })
    for (const model of ['m', 'm', 'other', 'other', 'm']) {
      expect((await gateway.chat({ ...request, model })).status).toBe(200)
    }
    expect(listVariables(gateway.upstream).slice(0, 6)).toEqual(variables)
  })

  test('a credential whose file cannot be read is parked for 10 seconds', async () => {
    const file = (name: string) => `/run/${name}.json`
    let isReadable = false
    const gateway = await watchedGateway(
      `[[providers]]
       name = "v"
       kind = "vertex_ai"
       base_url = "https://v.test/v1/projects/p/locations/l"
       api_key_envs = ["A", "B"]
       models = [{ id = "m" }]`,
      {
        env: { A: file('a'), B: 'AIzaSyCanaryCanaryCanaryCanaryCanaryCan' },
        readFile: async () => {
          if (!isReadable) throw new Error('canary')
          return JSON.stringify(authorizedUser)
        },
      },
    )
    gateway.upstream.always((call) =>
      (call.url.includes('/token') ? token('t', 3600) : refuse(400))(call),
    )
    await sendTimes(gateway, 3)
    expect(gateway.upstream.requests.map(({ headers }) => 'x-goog-api-key' in headers)).toEqual([
      true,
      true,
      true,
    ])
    isReadable = true
    await gateway.clock.advance(10_000)
    await sendTimes(gateway, 2)
    const sent = gateway.upstream.requests.map(({ headers }) => headers['authorization'])
    expect(sent).toContain('Bearer t')
  })
})

describe('what an operator sees', () => {
  test('the status and the metrics show what is parked, for which model and until when', async () => {
    const config = provider('api_key_env = "C"').replace('"B"', '"B", "D"')
    const gateway = await reloadingGateway(config, {
      env: { ...env, GATEWAY_MASTER_KEY: masterKey },
    })
    const now = gateway.clock.now() / 1000
    const key = await gateway.key()
    const status = async () => (await gateway.admin('GET', '/admin/status')).body
    const gauge = async () =>
      (await (await gateway.get('/metrics')).text()).match(/^gateway_credentials_parked.*/gm)
    const question = { path: '/v1/chat/completions', body: request }
    const explain = async () => (await gateway.admin('POST', '/admin/explain', question)).body
    expect(await status()).toMatchObject({ parked_credentials: [] })
    expect(await gauge()).toEqual(['gateway_credentials_parked{provider="p",model=""} 0'])
    byVariable(gateway.upstream, {
      A: refuse(401),
      B: refuse(403),
      C: refuse(429, { 'retry-after': '5' }),
    })
    await gateway.ask(key, prompt())
    const parked = { provider: 'p', model: null }
    const refused = [
      { ...parked, credential: 'A', reason: 'refused', until: now + 60 },
      { ...parked, credential: 'B', reason: 'refused', model: 'm', until: now + 60 },
    ]
    expect(await status()).toMatchObject({
      parked_credentials: [
        { ...parked, credential: 'C', reason: 'rate_limited', until: now + 5 },
        ...refused,
      ],
    })
    expect(await gauge()).toEqual([
      'gateway_credentials_parked{provider="p",model=""} 2',
      'gateway_credentials_parked{provider="p",model="m"} 1',
    ])
    expect(await explain()).toMatchObject({ links: [{ credential: 'parked', circuit: 'closed' }] })
    await gateway.clock.advance(5_000)
    expect((await status())['parked_credentials']).toEqual(refused)
    await gateway.clock.advance(55_000)
    expect((await status())['parked_credentials']).toEqual([])
    expect(await explain()).toMatchObject({ links: [{ credential: 'present' }] })
  })

  test('a provider with a parked credential has the state parked', async () => {
    const gateway = await reloadingGateway(provider(), {
      env: { ...env, GATEWAY_MASTER_KEY: masterKey },
    })
    const key = await gateway.key()
    const state = async () => {
      const { body } = await gateway.admin('GET', '/admin/status')
      return (body['credentials'] as Record<string, { state: string }>)['p']
    }
    const present = { state: 'present', detail: '2 present' }
    expect(await state()).toEqual(present)
    byVariable(gateway.upstream, { B: refuse(429, { 'retry-after': '5' }) })
    for (const _ of [1, 2]) await gateway.ask(key, prompt())
    expect(await state()).toEqual({ state: 'parked', detail: '1 parked (2 present)' })
    await gateway.clock.advance(5_000)
    expect(await state()).toEqual(present)
  })

  test('a provider with one credential has no such series', async () => {
    const gateway = await watchedGateway(provider(), { env: { A: env.A } })
    const text = await (await gateway.get('/metrics')).text()
    expect(text).not.toContain('gateway_credentials_parked{')
  })
})

describe('the last usable credential', () => {
  const patient = (config: string) => config.replace('threshold = 1', 'threshold = 99')

  test('it is asked, and the link fails as rate limited when others are, with the shortest wait', async () => {
    const gateway = await watchedGateway(provider('api_key_env = "C"'), { env })
    byVariable(gateway.upstream, {
      A: refuse(429, { 'retry-after': '9' }),
      B: refuse(401),
      C: refuse(429, { 'retry-after': '5' }),
    })
    const first = await gateway.chat(request)
    expect([first.status, first.headers.get('retry-after')]).toEqual([429, '5'])
    expect(await expectErrorShape(first)).toMatchObject({
      code: 'LM-3001',
      message:
        'provider p is rate limited with every credential that it accepts: upstream says 401',
      upstream: { status: 401 },
    })
    await gateway.clock.advance(2_000)
    const second = await gateway.chat(request)
    expect([second.status, second.headers.get('retry-after')]).toEqual([429, '3'])
    expect(second.headers.get('x-gateway-attempts')).toBe('1')
    expect(listVariables(gateway.upstream)).toEqual(['C', 'A', 'B', 'B'])
    await gateway.clock.advance(3_000)
    byVariable(gateway.upstream, {})
    expect(await sendTimes(gateway, 1)).toEqual([200])
  })

  test('when all are rate limited, the last one fails as a lone one, with the shortest wait', async () => {
    for (const [first, second] of [
      ['5', '9'],
      ['9', '5'],
    ] as const) {
      const gateway = await watchedGateway(patient(provider()), { env })
      byVariable(gateway.upstream, {
        A: refuse(429, { 'retry-after': first }),
        B: refuse(429, { 'retry-after': second }),
      })
      const response = await gateway.chat(request)
      expect([response.status, response.headers.get('retry-after')]).toEqual([429, '5'])
      await sendTimes(gateway, 2)
      expect(listVariables(gateway.upstream)).toEqual(['A', 'B', 'B', 'B'])
    }
  })

  test('a credential that is parked for one model counts as usable for others only', async () => {
    const gateway = await watchedGateway(patient(provider()), { env })
    const byModel =
      (ofM: number, ofOther: number): Responder =>
      (call) => {
        const { model } = JSON.parse(new TextDecoder().decode(call.body)) as { model: string }
        const status = model === 'm' ? ofM : ofOther
        return (status === 200 ? answer : refuse(status))(call)
      }
    byVariable(gateway.upstream, { A: byModel(403, 200), B: byModel(200, 401) })
    const ask = async (model: string) => (await gateway.chat({ ...request, model })).status
    expect(await ask('m')).toBe(200)
    // B is the only one for `m`, so its refusal for another model does not park it for all.
    expect([await ask('other'), await ask('m')]).toEqual([200, 200])
    expect(listVariables(gateway.upstream)).toEqual(['A', 'B', 'B', 'A', 'B'])
  })

  test('a Retry-After of 0 does not repeat a credential within an attempt', async () => {
    const gateway = await watchedGateway(provider(), { env })
    gateway.upstream.always(refuse(429, { 'retry-after': '0' }))
    expect(await sendTimes(gateway, 1)).toEqual([429])
    expect(gateway.upstream.requests).toHaveLength(2)
  })

  test('the next link serves, and the log names the reason', async () => {
    const gateway = await watchedGateway(withFallback, { env })
    gateway.upstream.next(refuse(429), refuse(401), answer, refuse(401), answer)
    expect(await sendTimes(gateway, 2)).toEqual([200, 200])
    expect(called(gateway.upstream)).toEqual(['p', 'p', 'f', 'p', 'f'])
    const failure = 'credentials-parked'
    const reason = 'is rate limited with every credential that it accepts'
    const lines = gateway.log.filter(({ message }) => message === 'request')
    expect(lines.map(({ fields }) => fields['failed'])).toEqual([
      [{ model: 'm', provider: 'p', failure, reason, attempts: 2 }],
      [{ model: 'm', provider: 'p', failure, reason, attempts: 1 }],
    ])
  })
})

describe('a lone credential', () => {
  const alone = provider().replace('threshold = 1', 'threshold = 9')

  test.each([
    ['one variable is listed', alone.replace('["A", "B"]', '["A"]'), env],
    ['the other variable is unset', alone, { A: env.A }],
    ['both variables hold the same key', alone, { A: env.A, B: env.A }],
  ])('it is not parked when %s', async (_, config, variables) => {
    const gateway = await watchedGateway(config, { env: variables })
    gateway.upstream.always(refuse(401))
    expect(await sendTimes(gateway, 3)).toEqual([502, 502, 502])
    expect(listVariables(gateway.upstream)).toEqual(['A', 'A', 'A'])
  })
})

describe('secrecy', () => {
  test('a parked credential is logged by its variable, for how long and why', async () => {
    const gateway = await watchedGateway(provider('api_key_env = "C"'), { env })
    gateway.upstream.next(refuse(429, { 'retry-after': '7' }), refuse(403), answer)
    await gateway.chat(request, { headers: { 'x-request-id': 'r1' } })
    expect(gateway.log.filter(({ message }) => message === 'credential parked')).toEqual([
      {
        level: 'warn',
        message: 'credential parked',
        fields: {
          request_id: 'r1',
          provider: 'p',
          credential: 'C',
          status: 429,
          wait_ms: 7_000,
        },
      },
      {
        level: 'warn',
        message: 'credential parked',
        fields: {
          request_id: 'r1',
          provider: 'p',
          model: 'm',
          credential: 'A',
          status: 403,
          wait_ms: 60_000,
        },
      },
    ])
  })

  test('no key is in a log line or an answer, also when another key begins like it', async () => {
    const keys = { A: 'canary-0123456789', B: 'canary-0123456789-abcdefgh-01' }
    const gateway = await watchedGateway(provider(), { env: keys })
    const quote = json(
      { error: { message: `no: ${keys.B} ${keys.A} ${btoa(keys.B)}`, detail: keys.B } },
      { status: 400 },
    )
    gateway.upstream.always(quote)
    const text = await (await gateway.chat(request)).text()
    expect(text).toContain('***')
    for (const part of ['canary-0', 'abcdefgh', btoa(keys.B).slice(-20)]) {
      expect(text).not.toContain(part)
      expect(JSON.stringify(gateway.log)).not.toContain(part)
    }
  })
})

describe('where credentials come from', () => {
  test('a stored key serves when every variable is unset, and is not parked', async () => {
    const config = provider().replace('threshold = 1', 'threshold = 9')
    const gateway = await reloadingGateway(config, { env: { GATEWAY_MASTER_KEY: masterKey } })
    await gateway.admin('PUT', '/admin/provider-keys/p', { key: 'stored-canary' })
    const key = await gateway.key()
    gateway.upstream.always(refuse(429))
    await gateway.ask(key, prompt())
    gateway.upstream.always(answer)
    expect((await gateway.ask(key, prompt())).status).toBe(200)
    expect(gateway.upstream.requests.map(({ headers }) => headers['authorization'])).toEqual([
      'Bearer stored-canary',
      'Bearer stored-canary',
    ])
  })

  test('a reload keeps the access tokens of an unchanged provider', async () => {
    const config = (more = '') => `
      [[providers]]
      name = "v"
      kind = "vertex_ai"
      base_url = "https://v.test/v1/projects/p/locations/l"
      api_key_envs = ["A", "B"]
      ${more}
      models = [{ id = "m" }]`
    const other = { ...authorizedUser, refresh_token: 'another-refresh-token' }
    const gateway = await reloadingGateway(config(), {
      env: {
        A: JSON.stringify(authorizedUser),
        B: JSON.stringify(other),
        GATEWAY_MASTER_KEY: masterKey,
      },
    })
    const key = await gateway.key()
    gateway.upstream.always((call) =>
      (call.url.includes('/token') ? token('t', 3600) : refuse(400))(call),
    )
    const exchanges = async () => {
      for (let at = 0; at < 4; at++) await gateway.ask(key, prompt())
      return gateway.upstream.requests.filter(({ url }) => url.includes('/token')).length
    }
    expect(await exchanges()).toBe(2)
    await gateway.change(`${config()}\n[server]\nsse_heartbeat_ms = 9`)
    expect(await exchanges()).toBe(2)
    await gateway.change(config('strict = true'))
    expect(await exchanges()).toBe(4)
  })

  test.each([
    [env, '2 present', undefined],
    [
      { A: 'x' },
      '1 of 2 present: B is unset',
      'provider p lacks a credential: the variable B is unset or empty',
    ],
    [
      { A: 'x', B: 'x' },
      '1 of 2 present: B holds the same key as A',
      'provider p lacks a credential: B holds the same key as A',
    ],
    [
      { A: 'x', B: 'x\ny' },
      '1 of 2 present: B is not usable',
      'provider p has no usable credential in B: it contains a control character, such as a line break, which a header cannot carry',
    ],
    [
      {},
      'A and B are unset',
      'provider p has no credential: the variables A and B are unset or empty',
    ],
  ])('the overview and the check count them: %#', async (variables, state, missing) => {
    const { gateway } = await watchedGateway(provider(), { env: variables })
    expect(gateway.overview.providers[0]).toMatchObject({ credential: state, missing })
    expect(gateway.overview.warnings).toEqual(missing === undefined ? [] : [missing])
    const checking = check({ name: 'f', config: provider(), env: variables, strict: true })
    if (missing === undefined) return expect((await checking).join()).toContain(state)
    await expect(checking).rejects.toMatchObject({ exitCode: 2 })
  })
})
