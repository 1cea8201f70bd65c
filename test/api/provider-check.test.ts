import { describe, expect, test } from 'vitest'
import { CloudCredentialError } from '../../src/core/cloud-credential.ts'
import {
  errorIn,
  type KeyedGateway,
  keyedGateway,
  pricedProvider,
  prompt,
  used,
} from '../support/keyed-gateway.ts'
import { settled } from '../support/manual-clock.ts'
import {
  broken,
  json,
  LiveUpstream,
  ScriptedUpstream,
  silent,
  stream,
  whole,
} from '../support/scripted-upstream.ts'

/*
 * `POST /admin/providers/{name}/check`: one small request with each credential of a provider.
 */

const twoKeys = pricedProvider.replace('api_key_env = "P_KEY"', 'api_key_envs = ["P_KEY", "Q_KEY"]')
const env = { P_KEY: 'sk-p', Q_KEY: 'sk-q', GATEWAY_MASTER_KEY: '5e'.repeat(32) }

function contentOf(content: string): string {
  return `data: ${JSON.stringify({ choices: [{ index: 0, delta: { role: 'assistant', content } }] })}\n\n`
}

const endOfAnswer = [
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: { prompt_tokens: 8, completion_tokens: 1, total_tokens: 9 } })}\n\n`,
  'data: [DONE]\n\n',
].join('')

const answer = stream([contentOf('Hi'), endOfAnswer])

const works = {
  credential: 'P_KEY',
  reachable: true,
  authenticated: true,
  model_known: true,
  first_token_ms: expect.any(Number),
  cost: 0.00001,
  error: null,
}

function check({ admin }: KeyedGateway, body?: object, name = 'p') {
  return admin('POST', `/admin/providers/${name}/check`, body)
}

describe('a check', () => {
  test('says what a real request has shown of each credential', async () => {
    const gateway = await keyedGateway(twoKeys, { env })
    gateway.upstream.next(answer, json({ error: { message: 'no such key' } }, { status: 401 }))
    const { status, body } = await check(gateway)
    expect(status).toBe(200)
    expect(body).toEqual({
      provider: 'p',
      model: 'm',
      credentials: [
        works,
        {
          credential: 'Q_KEY',
          reachable: true,
          authenticated: false,
          model_known: null,
          first_token_ms: null,
          cost: null,
          error: expect.stringMatching(/^LM-3003 .*401: no such key/),
        },
      ],
    })
    const sent = gateway.upstream.requests.map(({ headers }) => headers['authorization'])
    expect(sent).toEqual(['Bearer sk-p', 'Bearer sk-q'])
  })

  test('asks for the model that the body names, in a request that the vendor takes', async () => {
    const more = '[[providers.models]]\nid = "n"\nupstream_id = "gpt-5"\n'
    const gateway = await keyedGateway(`${pricedProvider}${more}`)
    gateway.upstream.next(answer)
    expect((await check(gateway, { model: 'n' })).body).toMatchObject({ model: 'n' })
    const sent = JSON.parse(Buffer.from(gateway.upstream.requests[0]?.body ?? '').toString())
    expect(sent).toMatchObject({ model: 'gpt-5', stream: true, max_completion_tokens: 16 })
  })

  test.each([
    ['an unknown model', json({ error: { message: 'no' } }, { status: 404 }), [true, true, false]],
    ['a refused request', json({ error: { message: 'no' } }, { status: 400 }), [true, true, null]],
    ['a rate limit', json({ error: { message: 'no' } }, { status: 429 }), [true, true, null]],
    ['an empty account', json({ error: { message: 'no' } }, { status: 402 }), [true, false, null]],
    ['a failing server', json({ error: { message: 'no' } }, { status: 500 }), [true, null, null]],
    ['a connection that is refused', broken(), [false, null, null]],
    ['an answer that is no stream', whole('hello'), [true, null, null]],
  ] as const)('tells %s from the others', async (_, responder, expected) => {
    const gateway = await keyedGateway()
    gateway.upstream.always(responder)
    const [found] = (await check(gateway)).body['credentials'] as Record<string, unknown>[]
    const { reachable, authenticated, model_known: known } = found ?? {}
    expect([reachable, authenticated, known]).toEqual(expected)
    expect(gateway.upstream.requests).toHaveLength(1)
  })

  const begun = stream([contentOf('Hi')], {
    failure: { kind: 'closed-early', reason: 'UND_ERR_SOCKET' },
  })

  test('ends with its stream, and shows its costs', async () => {
    const gateway = await keyedGateway()
    const live = new LiveUpstream()
    gateway.upstream.next(live.responder)
    live.push(contentOf('Hi'))
    const checking = check(gateway)
    const isOpen = await Promise.race([checking.then(() => false), settled().then(() => true)])
    expect(isOpen).toBe(true)
    live.push(endOfAnswer)
    live.end()
    expect((await checking).body['credentials']).toMatchObject([works])
  })

  test('shows that a model has answered whose stream then breaks', async () => {
    const gateway = await keyedGateway()
    gateway.upstream.next(begun)
    expect((await check(gateway)).body['credentials']).toMatchObject([
      {
        reachable: true,
        authenticated: true,
        model_known: true,
        first_token_ms: expect.any(Number),
        error: 'LM-3010 provider p ended its stream early (UND_ERR_SOCKET)',
      },
    ])
  })

  test('does not know whether a provider can be reached that never answers', async () => {
    const gateway = await keyedGateway()
    gateway.upstream.always(silent())
    const checking = check(gateway)
    await settled()
    await gateway.clock.advance(700_000)
    expect((await checking).body['credentials']).toMatchObject([
      { reachable: null, authenticated: null, error: expect.stringMatching(/^LM-301[13] /) },
    ])
  })

  test('ends when the stream of the upstream stops', async () => {
    const gateway = await keyedGateway()
    const live = new LiveUpstream()
    gateway.upstream.always(live.responder)
    live.push(contentOf('Hi'))
    const checking = check(gateway)
    await settled()
    await gateway.clock.advance(700_000)
    expect((await checking).body['credentials']).toMatchObject([
      { authenticated: true, error: expect.stringMatching(/^LM-3013 provider p /) },
    ])
    expect(live.released).toBe('cancel')
  })

  test.each([
    [
      'google',
      {
        error: {
          code: 400,
          message: 'API key not valid.',
          status: 'INVALID_ARGUMENT',
          details: [{ reason: 'API_KEY_INVALID' }],
        },
      },
    ],
    ['xai', { code: 'Client specified an invalid argument', error: 'Incorrect API key provided' }],
  ])('knows the refusal of a credential that %s sends with status 400', async (kind, body) => {
    const gateway = await keyedGateway(pricedProvider.replace('"openai"', `"${kind}"`))
    gateway.upstream.next(json(body, { status: 400 }))
    expect((await check(gateway)).body['credentials']).toMatchObject([
      { reachable: true, authenticated: false, error: expect.stringContaining('API key') },
    ])
  })

  test('says of a cloud without a credential that nothing was asked', async () => {
    const config = pricedProvider
      .replace('"openai"', '"bedrock"')
      .replace('api_key_env = "P_KEY"', 'credentials = "aws"')
    const gateway = await keyedGateway(config, {
      cloudCredentials: () => Promise.reject(new CloudCredentialError('no role')),
    })
    expect((await check(gateway)).body['credentials']).toMatchObject([
      { reachable: null, authenticated: false, error: expect.stringMatching(/^LM-3006 /) },
    ])
    expect(gateway.upstream.requests).toHaveLength(0)
  })

  test('shows of a redirect only that the provider can be reached', async () => {
    const gateway = await keyedGateway()
    gateway.upstream.next(json({}, { status: 302, headers: { location: 'https://other.test/' } }))
    expect((await check(gateway)).body['credentials']).toMatchObject([
      { reachable: true, authenticated: null, model_known: null },
    ])
  })

  test('counts in no metric', async () => {
    const gateway = await keyedGateway()
    gateway.upstream.next(answer, broken())
    await check(gateway)
    await check(gateway)
    const metrics = await gateway.get('/metrics')
    expect(await metrics.text()).not.toMatch(/upstream_attempts_total\{[^}]*\} [1-9]/)
  })

  test('names a credential that is missing', async () => {
    const gateway = await keyedGateway(twoKeys, { env: { ...env, Q_KEY: '' } })
    gateway.upstream.next(answer)
    const { body } = await check(gateway)
    expect(body['credentials']).toMatchObject([
      { credential: 'P_KEY' },
      { credential: 'Q_KEY is unset', reachable: null, authenticated: false },
    ])
  })

  test('changes nothing for other requests, and counts nowhere', async () => {
    const config = `${twoKeys}max_parallel = 1\n[resilience]\ncircuit_failure_threshold = 1\n`
    const gateway = await keyedGateway(config, { env })
    gateway.upstream.next(
      json({ error: { message: 'no' } }, { status: 401 }),
      json({ error: { message: 'no' } }, { status: 500 }),
    )
    await check(gateway)
    const { body } = await gateway.admin('GET', '/admin/status')
    expect(JSON.stringify(body)).not.toMatch(/"open"|parked_until/)
    const key = await gateway.key()
    gateway.upstream.next(used(100, 20))
    expect((await gateway.ask(key, prompt(8))).status).toBe(200)
    expect(await gateway.rows()).toHaveLength(1)
  })

  test.each([
    ['a provider that is not configured', 'q', {}, 'name'],
    ['a model of no provider', 'p', { model: 'x' }, 'model'],
    ['a field that it does not know', 'p', { models: 'm' }, 'models'],
  ])('refuses %s', async (_, name, body, param) => {
    const refused = await check(await keyedGateway(), body, name)
    expect(refused.status).toBe(400)
    expect(errorIn(refused)).toMatchObject({ code: 'LM-1001', param })
  })

  test.each([
    ['[[providers.models]]\nid = "p/*"\n', 'has only patterns'],
    ['models = []\n', 'has no models'],
  ])('refuses to choose a model where there is none: %j', async (models, reason) => {
    const [settings] = pricedProvider.split('[[providers.models]]')
    const refused = await check(await keyedGateway(`${settings}${models}`))
    const message = `model: is required, since provider p ${reason}`
    expect(errorIn(refused)).toMatchObject({ code: 'LM-1001', param: 'model', message })
  })

  test('refuses the id of a pattern itself', async () => {
    const gateway = await keyedGateway(
      pricedProvider.replace('"m"', '"p/*"').replace('"upstream-m"', '"*"'),
    )
    gateway.upstream.always(answer)
    expect(errorIn(await check(gateway, { model: 'p/*' }))).toMatchObject({ param: 'model' })
    expect((await check(gateway, { model: 'p/x' })).body).toMatchObject({ model: 'p/x' })
    expect(gateway.upstream.requests).toHaveLength(1)
  })

  test('asks for a model that the list of the vendor does not have', async () => {
    const [settings] = pricedProvider.split('[[providers.models]]')
    const pattern = 'discover = true\n[[providers.models]]\nid = "*"\n'
    const upstream = new ScriptedUpstream().always(json({ data: [{ id: 'listed' }] }))
    const gateway = await keyedGateway(`${settings}${pattern}`, { upstream: upstream.port })
    await settled()
    upstream.next(json({ error: { message: 'no such model' } }, { status: 404 }))
    expect((await check(gateway, { model: 'new' })).body).toMatchObject({
      model: 'new',
      credentials: [{ reachable: true, authenticated: true, model_known: false }],
    })
  })

  test('finds a provider whose name has a slash', async () => {
    const gateway = await keyedGateway(pricedProvider.replace('name = "p"', 'name = "team/p"'))
    gateway.upstream.next(answer)
    expect((await check(gateway, {}, 'team%2Fp')).body).toMatchObject({ provider: 'team/p' })
  })

  test.each([
    [
      'embed',
      '/embeddings',
      { data: [{ index: 0, embedding: [0.5] }], usage: { prompt_tokens: 1, total_tokens: 1 } },
    ],
    ['rerank', '/rerank', { results: [{ index: 0, relevance_score: 0.5 }] }],
  ])('asks a model for %s', async (capability, path, reply) => {
    const config = `${pricedProvider}capabilities = ["${capability}"]\n`
    const kind = capability === 'rerank' ? 'cohere' : 'openai'
    const gateway = await keyedGateway(config.replace('"openai"', `"${kind}"`))
    gateway.upstream.next(json(reply))
    const { body } = await check(gateway)
    expect(body['credentials']).toMatchObject([{ reachable: true, error: null }])
    expect(gateway.upstream.requests[0]?.url).toMatch(new RegExp(`${path}$`))
  })
})
