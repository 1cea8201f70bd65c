import { describe, expect, test } from 'vitest'
import { completion, hello, role } from '../support/answers.ts'
import { byProvider, makeChain } from '../support/chain.ts'
import { type ClientKey, clientKey, keyedGateway, prompt } from '../support/keyed-gateway.ts'
import { broken, json, stream } from '../support/scripted-upstream.ts'
import { settlement, streamed } from '../support/stream-client.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const request = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }
const headers = { 'x-request-id': 'r1' }
const once = 'retry_max_attempts = 1'
const quota = { error: { message: 'canary says', code: 'insufficient_quota' } }

describe('log lines of failures', () => {
  test('each failed attempt has one warn line, and the request’s line lists the failed links', async () => {
    const gateway = await watchedGateway(makeChain([{}, { kind: 'cohere' }, {}, {}], once))
    byProvider(gateway.upstream, {
      p: broken({ kind: 'network', reason: 'ECONNREFUSED' }),
      p3: json(quota, { status: 429 }),
      p4: json(completion()),
    })
    const wav = { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }
    const body = { model: 'm', messages: [{ role: 'user', content: [wav] }] }
    const response = await gateway.chat(body, { headers })
    expect(response.headers.get('x-gateway-attempts')).toBe('3')
    expect(gateway.log.filter(({ message }) => message === 'attempt failed')).toMatchObject([
      {
        level: 'warn',
        fields: {
          request_id: 'r1',
          provider: 'p',
          model: 'm',
          attempt: 1,
          failure: 'network',
          code: 'ECONNREFUSED',
        },
      },
      {
        level: 'warn',
        fields: {
          request_id: 'r1',
          provider: 'p3',
          model: 'm3',
          attempt: 2,
          failure: 'status',
          status: 402,
          code: 'insufficient_quota',
        },
      },
    ])
    expect(settlement(gateway.log)).toMatchObject({
      status: 200,
      provider: 'p4',
      attempts: 3,
      failed: [
        {
          model: 'm',
          provider: 'p',
          reason: 'could not be reached or closed the connection (ECONNREFUSED)',
          attempts: 1,
        },
        {
          model: 'm2',
          provider: 'p2',
          reason: 'cannot express messages.0.content.0',
          attempts: 0,
        },
        {
          model: 'm3',
          provider: 'p3',
          reason: 'answered with status 402 (insufficient_quota)',
          attempts: 1,
        },
      ],
    })
  })

  test('the upstream’s own message is logged at debug only', async () => {
    const gateway = await watchedGateway(makeChain([{}], once))
    gateway.upstream.always(json(quota, { status: 429 }))
    await gateway.chat(request)
    const quoting = gateway.log.filter((line) => JSON.stringify(line).includes('canary'))
    expect(quoting).toMatchObject([{ level: 'debug', message: 'the upstream said' }])
  })

  test('a failed request names the provider called last, else the provider of its model', async () => {
    const gateway = await watchedGateway(makeChain([{}, {}], once))
    gateway.upstream.always(json({}, { status: 500 }))
    await gateway.chat(request)
    expect(settlement(gateway.log.splice(0))).toMatchObject({ provider: 'p2', status: 503 })
  })

  test('a provider without a usable credential logs which credential and why, for each request that reaches it', async () => {
    const vertex = {
      kind: 'vertex_ai',
      path: '/v1/projects/p1/locations/global',
      keyVariable: 'FILE',
    }
    const gateway = await watchedGateway(makeChain([{ keyVariable: 'NOT_SET' }, vertex]), {
      env: { FILE: '/run/canary.json' },
      readFile: async () => {
        throw Object.assign(new Error('canary'), { code: 'EACCES' })
      },
    })
    await gateway.chat(request, { headers })
    expect(gateway.upstream.requests).toEqual([])
    expect(gateway.log.filter(({ message }) => message === 'no credential')).toMatchObject([
      {
        level: 'warn',
        fields: {
          request_id: 'r1',
          provider: 'p',
          model: 'm',
          problem: 'provider p has no credential: the variable NOT_SET is unset or empty',
        },
      },
      {
        level: 'warn',
        fields: {
          request_id: 'r1',
          provider: 'p2',
          model: 'm2',
          problem: 'the Google credential cannot be used: the file it names cannot be read',
          code: 'EACCES',
        },
      },
    ])
    expect(settlement(gateway.log)).toMatchObject({
      provider: 'p',
      attempts: 0,
      failed: [
        { provider: 'p', reason: 'has no usable credential', attempts: 0 },
        { provider: 'p2', reason: 'has no usable credential (EACCES)', attempts: 0 },
      ],
    })
    expect(JSON.stringify(gateway.log)).not.toContain('canary')
  })

  test('a stream that dies after its start is a failed attempt', async () => {
    const gateway = await watchedGateway(makeChain([{}], once))
    gateway.upstream.always(stream([role + hello]))
    await (await gateway.chat(streamed(), { headers })).text()
    expect(gateway.log.filter(({ message }) => message === 'attempt failed')).toMatchObject([
      { level: 'warn', fields: { provider: 'p', attempt: 1, failure: 'closed-early' } },
    ])
    expect(settlement(gateway.log)).toMatchObject({
      failed: [{ model: 'm', provider: 'p', reason: 'ended its stream early', attempts: 1 }],
    })
  })

  test('a request served at the first attempt has only its own line', async () => {
    const gateway = await watchedGateway(makeChain([{}]))
    gateway.upstream.always(json(completion()))
    await gateway.chat(request)
    expect(gateway.log).toHaveLength(1)
    expect(settlement(gateway.log)['failed']).toBeUndefined()
  })
})

describe('x-gateway-attempts', () => {
  test.each([
    ['malformed', { model: 'm' }, '0'],
    ['an unknown model', { ...request, model: 'x' }, '0'],
    ['failed', request, '3'],
  ])('%s carries x-gateway-attempts', async (_, body, attempts) => {
    const gateway = await watchedGateway(makeChain([{}]))
    gateway.upstream.always(json({}, { status: 500 }))
    const pending = gateway.chat(body)
    await gateway.clock.advance(10_000)
    expect((await pending).headers.get('x-gateway-attempts')).toBe(attempts)
  })

  test('x-gateway-attempts is 0 without an upstream call', async () => {
    const gateway = await keyedGateway()
    const refusedWith = async (key: ClientKey) => {
      const answer = await gateway.ask(key, prompt())
      return [answer.status, answer.headers.get('x-gateway-attempts')]
    }
    expect(await refusedWith(await gateway.key({ budget_max: 0 }))).toEqual([402, '0'])
    expect(await refusedWith(await gateway.key({ rpm_limit: 0 }))).toEqual([429, '0'])
    expect(await refusedWith(clientKey('none', 'none'))).toEqual([401, '0'])
  })

  test('every refusal of a route of the data plane carries it, and every 401 is the same', async () => {
    const gateway = await keyedGateway()
    const unauthorized = new Set<string>()
    for (const [method, path] of dataPlane) {
      const refused = await gateway.get(path, { method, body: method === 'GET' ? null : '{}' })
      unauthorized.add(JSON.stringify(describe401(refused)))
      const wrongMethod = await gateway.get(path, { method: 'DELETE' })
      expect([path, wrongMethod.status, wrongMethod.headers.get('x-gateway-attempts')]).toEqual([
        path,
        405,
        '0',
      ])
    }
    expect([...unauthorized]).toHaveLength(1)
    expect([...unauthorized][0]).toMatch(/"status":401.*"x-gateway-attempts","0"/)
  })

  const dataPlane = [
    ['POST', '/v1/chat/completions'],
    ['POST', '/v1/completions'],
    ['POST', '/v1/messages'],
    ['POST', '/v1/messages/count_tokens'],
    ['POST', '/v1/responses'],
    ['POST', '/v1/embeddings'],
    ['POST', '/v1/rerank'],
    ['POST', '/rerank'],
    ['POST', '/openai/deployments/m/chat/completions'],
    ['POST', '/openai/deployments/m/embeddings'],
    ['GET', '/v1/models'],
    ['GET', '/v1/models/m'],
  ] as const

  /** Everything but the id, which differs, and a second header for it, which belongs to an API. */
  function describe401({ status, headers: sent }: Response): object {
    const shown = [...sent].filter(([name]) => !/request-id|content-length/.test(name))
    return { status, headers: shown }
  }

  test('the lists of models and a refused count carry it', async () => {
    const { get } = await watchedGateway(makeChain([{}]))
    for (const path of ['/v1/models', '/v1/models/m', '/v1/models/unknown']) {
      expect((await get(path)).headers.get('x-gateway-attempts')).toBe('0')
    }
    const count = await get('/v1/messages/count_tokens', { method: 'POST', body: '{}' })
    expect([count.status, count.headers.get('x-gateway-attempts')]).toEqual([400, '0'])
  })

  test.each([
    ['POST', '/v1/chat'],
    ['GET', '/health'],
    ['GET', '/admin/keys'],
  ])('%s %s does not carry it', async (method, path) => {
    const { get } = await watchedGateway(makeChain([{}]))
    expect((await get(path, { method })).headers.has('x-gateway-attempts')).toBe(false)
  })
})
