import { describe, expect, test } from 'vitest'
import { completion, data, done, hello, role, wholeStream } from '../support/answers.ts'
import { makeChain } from '../support/chain.ts'
import { oneProvider, providerKey, type TestGateway } from '../support/gateway.ts'
import { keyedGateway } from '../support/keyed-gateway.ts'
import { broken, json, type Responder, stream, whole } from '../support/scripted-upstream.ts'
import { settlement, streamed } from '../support/stream-client.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const request = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }

async function run(gateway: TestGateway, body: unknown = request, init?: RequestInit) {
  const pending = gateway.chat(body, init)
  await gateway.clock.advance(1000)
  const response = await pending
  return { status: response.status, text: await response.text() }
}

describe('the request line', () => {
  test('a served request is logged with ids, counts and codes', async () => {
    const gateway = await watchedGateway(makeChain([{}, {}]))
    gateway.upstream.next(json({}, { status: 500 }), json({}, { status: 401 }), json(completion()))
    await run(gateway, request, {
      headers: { 'x-request-id': 'r1', 'x-gateway-metadata': '{"team":"a"}' },
    })
    expect(gateway.log.filter(({ message }) => message === 'request')).toEqual([
      {
        level: 'info',
        message: 'request',
        fields: {
          request_id: 'r1',
          capability: 'chat',
          api: 'chat',
          model: 'm',
          model_used: 'm2',
          provider: 'p2',
          status: 200,
          error_code: undefined,
          stream: false,
          latency_ms: 100,
          ttft_ms: undefined,
          attempts: 3,
          failed: [
            {
              model: 'm',
              provider: 'p',
              reason: 'answered with status 401',
              attempts: 2,
              failure: 'status',
              status: 401,
            },
          ],
          tokens_in: 9,
          tokens_out: 2,
          estimated: false,
          metadata: { team: 'a' },
        },
      },
    ])
  })

  test('a stream is logged with its time to first token', async () => {
    const gateway = await watchedGateway()
    gateway.upstream.next(json({}, { status: 500 }), stream([wholeStream]))
    await run(gateway, streamed())
    expect(settlement(gateway.log)).toMatchObject({ stream: true, ttft_ms: 100, attempts: 2 })
  })

  test.each([
    ['text that is not JSON', 'x', 400, 'LM-1001'],
    ['an unknown model', { ...request, model: 'x' }, 404, 'LM-2001'],
    ['a missing field', { model: 'm' }, 400, 'LM-1001'],
  ])('a request refused for %s is logged', async (_, body, status, code) => {
    const gateway = await watchedGateway()
    await run(gateway, body)
    expect(gateway.log.map(({ level }) => level)).toEqual(['info'])
    expect(settlement(gateway.log)).toMatchObject({
      status,
      error_code: code,
      attempts: 0,
      model_used: undefined,
    })
  })

  test('a refused request is logged with the model that it asks for and the reason, without a provider', async () => {
    const gateway = await keyedGateway()
    const groupId = await gateway.group({ rpm_limit: 0 })
    const plain = await gateway.key({})
    const only = await gateway.key({ models: ['other'] })
    const limited = await gateway.key({ rpm_limit: 0 })
    const grouped = await gateway.key({ group_id: groupId })
    const small = await gateway.key({ tpm_limit: 1 })
    const broke = await gateway.key({ budget_max: 0 })
    gateway.log.length = 0
    const cases = [
      [plain, { ...request, model: 'mm' }, 'mm', /^the model is not configured; did you mean m\?/],
      [only, request, 'm', /^the key may not use this model/],
      [plain, { model: 'm' }, 'm', /^messages is required/],
      [plain, { model: 'm', messages: 'x' }, 'm', /^messages: must be an array/],
      [plain, '{"model":"m","messages":', 'm', /not valid JSON/],
      [plain, { messages: [] }, undefined, /^model is required/],
      [
        plain,
        { ...request, model: 'a text with blanks' },
        undefined,
        /^the model is not configured/,
      ],
      [limited, request, 'm', /^the key's request limit is 0/],
      [grouped, request, 'm', /^the group's request limit is 0/],
      [small, request, 'm', /^this request needs \d+ tokens; the key allows 1 per minute/],
      [broke, request, 'm', /^the key's budget is exhausted/],
    ] as const
    for (const [key, body, model, reason] of cases) {
      const before = gateway.log.length
      const response = await gateway.chat(body, { headers: key.headers })
      const { message } = JSON.parse(await response.text()).error
      expect(settlement(gateway.log.slice(before))).toMatchObject({
        model,
        reason: message,
        provider: undefined,
      })
      expect(message).toMatch(reason)
    }
    expect(settlement(gateway.log.slice(-1))).toMatchObject({ scope: 'key', group_id: undefined })
    const { body } = await gateway.admin('GET', '/admin/requests')
    // Of one second, those without a row in the usage log come first.
    const rows = body['rows'] as { readonly id: string }[]
    expect(rows.findLast(({ id }) => id.startsWith('r'))).toMatchObject({
      model: 'mm',
      reason: expect.stringMatching(/^the model is not configured/),
      provider: null,
    })
    await gateway.ask(grouped, request)
    expect(settlement(gateway.log.slice(-1))).toMatchObject({ scope: 'group', group_id: groupId })
  })

  test('a served request, and one that its provider refused, has no reason of the gateway', async () => {
    const gateway = await watchedGateway()
    gateway.upstream.next(json(completion()), json({ error: { message: 'no' } }, { status: 400 }))
    await run(gateway)
    await run(gateway)
    const lines = gateway.log.filter(({ message }) => message === 'request')
    expect(lines.map(({ fields }) => [fields['provider'], fields['reason']])).toEqual([
      ['p', undefined],
      ['p', undefined],
    ])
  })

  test('a 5xx is logged as a warning', async () => {
    const gateway = await watchedGateway()
    gateway.upstream.always(json({}, { status: 500 }))
    await run(gateway)
    const lines = gateway.log.filter(({ message }) => message === 'request')
    expect(lines.map(({ level }) => level)).toEqual(['warn'])
  })

  test('other routes that answer leave no line', async () => {
    const { get, log } = await watchedGateway()
    for (const path of ['/health', '/health/providers', '/metrics', '/v1/models']) await get(path)
    expect(log).toEqual([])
  })

  test('a request refused by admission is logged with its error code', async () => {
    const gateway = await keyedGateway()
    const limited = await gateway.key({ rpm_limit: 0 })
    const broke = await gateway.key({ budget_max: 0 })
    gateway.log.length = 0
    await gateway.ask(limited, request)
    await gateway.ask(broke, request)
    expect(
      gateway.log.map(({ message, fields }) => [message, fields['status'], fields['key_id']]),
    ).toEqual([
      ['request', 429, limited.id],
      ['request', 402, broke.id],
    ])
  })
})

describe('requests without a route', () => {
  const client = '192.0.2.7'

  async function sent(path: string, method = 'GET') {
    const { gateway, log, clock } = await watchedGateway()
    const init = { method, headers: { 'x-request-id': 'r1' } }
    const send = () => gateway.fetch(new Request(`http://gateway.test${path}`, init), { client })
    await send()
    return { gateway, log, clock, send }
  }

  test('a master key in the path is masked', async () => {
    const { log } = await sent(`/admin/absent/${'aB'.repeat(32)}/0123456789abcdef0123456789abcdef`)
    expect(log[0]?.fields?.['path']).toBe('/admin/absent/***/0123456789abcdef0123456789abcdef')
  })

  test('a request without a route is logged with method, path, status, request id and client', async () => {
    const { log } = await sent('/v1/images?key=canary', 'POST')
    expect(log).toEqual([
      {
        level: 'info',
        message: 'no route',
        fields: {
          request_id: 'r1',
          method: 'POST',
          path: '/v1/images',
          status: 404,
          client,
          count: undefined,
        },
      },
    ])
  })

  test('a wrong method is logged with 405', async () => {
    const { log } = await sent('/v1/chat/completions', 'DELETE')
    expect(log[0]?.fields).toMatchObject({ method: 'DELETE', status: 405 })
  })

  test('the logged path is short, without control characters and without a key', async () => {
    const { log } = await sent(`/${providerKey}/\u0007%0a/é/${'x'.repeat(10_000)}`)
    const path = String(log[0]?.fields['path'])
    expect(path).toMatch(/^\/\*\*\*\/%07%0a\/%C3%A9\/x+$/)
    expect(path).toHaveLength(200)
  })

  test('at most ten lines a second are written, and the next one counts those left out', async () => {
    const { log, clock, send } = await sent('/nowhere')
    for (let more = 1; more < 50; more++) await send()
    expect(log).toHaveLength(10)
    await clock.advance(1000)
    await send()
    expect(log).toHaveLength(11)
    expect(log[10]?.fields['count']).toBe(41)
  })

  test('closing the gateway writes the remaining count', async () => {
    const { gateway, log, send } = await sent('/nowhere')
    for (let more = 1; more < 50; more++) await send()
    await gateway.close()
    expect(log).toHaveLength(11)
    expect(log[10]).toMatchObject({ message: 'no route', fields: { count: 40 } })
  })
})

describe('refused logins', () => {
  test.each([
    ['POST', '/v1/chat/completions'],
    ['GET', '/v1/models'],
    ['GET', '/admin/keys'],
    ['DELETE', '/admin/provider-keys/openai'],
  ])('%s %s leaves a warning with the client and without the credential', async (method, path) => {
    const { gateway, log } = await keyedGateway()
    log.length = 0
    const headers = { authorization: 'Bearer canary', 'x-request-id': 'r1' }
    const init = { method, headers, ...(method === 'POST' && { body: '{}' }) }
    const url = `http://gateway.test${path}?key=canary`
    const response = await gateway.fetch(new Request(url, init), { client: '192.0.2.7' })
    expect(response.status).toBe(401)
    const fields = { request_id: 'r1', method, path, status: 401, client: '192.0.2.7' }
    expect(log[0]).toEqual({
      level: 'warn',
      message: 'login refused',
      fields: { ...fields, reason: expect.any(String), key_id: undefined, count: undefined },
    })
    expect(JSON.stringify(log)).not.toContain('canary')
  })

  test('a key in the form of the master key is named in the log, and not to the client', async () => {
    const { get, log, clock } = await keyedGateway()
    const answers: string[] = []
    for (const key of ['ab'.repeat(32), 'wrong']) {
      await clock.advance(2000)
      log.length = 0
      const headers = { authorization: `Bearer ${key}`, 'x-request-id': 'r1' }
      answers.push(await (await get('/v1/models', { headers })).text())
      const reason = 'the key has the form of the master key; clients send a virtual key'
      expect(log[0]?.fields).not.toHaveProperty('hint')
      expect(log[0]?.fields['reason']).toBe(key === 'wrong' ? 'not a key of a gateway' : reason)
      expect(JSON.stringify(log)).not.toContain(key)
    }
    expect(answers[0]).toBe(answers[1])
  })

  test('the log alone says why, and which key it was', async () => {
    const { admin, key, gateway, log, clock } = await keyedGateway()
    const now = Math.floor(clock.now() / 1000)
    const valid = await key({})
    const expired = await key({ expires_at: now + 10 })
    const disabled = await key({})
    const deleted = await key({})
    const rotated = await key({})
    const graced = await key({})
    await admin('PATCH', `/admin/keys/${disabled.id}`, { disabled: true })
    await admin('DELETE', `/admin/keys/${deleted.id}`)
    await admin('POST', `/admin/keys/${rotated.id}/rotate`)
    await admin('POST', `/admin/keys/${graced.id}/rotate`, { grace_seconds: 5 })
    await clock.advance(20_000)
    const unknown = `sk-gw-${'0'.repeat(64)}`
    const answers = new Set<string>()
    const why = async (path: string, headers: Record<string, string>) => {
      await clock.advance(1_000)
      log.length = 0
      const sent = { 'x-request-id': 'r1', ...headers }
      const response = await gateway.fetch(
        new Request(`http://gateway.test${path}`, { headers: sent }),
      )
      expect(response.status).toBe(401)
      if (path === '/v1/models') answers.add(await response.text())
      const line = log.find(({ message }) => message === 'login refused')
      return [line?.fields['reason'], line?.fields['key_id']]
    }
    const login = (secret: string) => why('/v1/models', { authorization: `Bearer ${secret}` })
    expect(await login(expired.secret)).toEqual(['the key has expired', expired.id])
    expect(await login(disabled.secret)).toEqual(['the key is disabled', disabled.id])
    expect(await login(deleted.secret)).toEqual(['the key is deleted', deleted.id])
    const former = 'the secret is from before the last rotation'
    expect(await login(rotated.secret)).toEqual([former, rotated.id])
    expect(await login(graced.secret)).toEqual([former, graced.id])
    expect(await login(unknown)).toEqual(['no key has this secret', undefined])
    expect(await login('sk-other')).toEqual(['not a key of a gateway', undefined])
    expect(await login('7e'.repeat(32))).toEqual([expect.stringMatching(/master key/), undefined])
    expect(await why('/v1/models', {})).toEqual(['no key was sent', undefined])
    expect(
      await why('/v1/models', { 'x-api-key': unknown, authorization: `Bearer ${disabled.secret}` }),
    ).toEqual(['the key is disabled', disabled.id])
    // Every client gets the same answer.
    expect(answers.size).toBe(1)
    const open = (secret: string) => why('/admin/keys', { authorization: `Bearer ${secret}` })
    expect(await open(valid.secret)).toEqual([expect.stringMatching(/^a virtual key/), undefined])
    expect(await open('7e'.repeat(32))).toEqual(['another master key', undefined])
    expect(await open('x')).toEqual(['not a master key', undefined])
    expect(await why('/admin/keys', {})).toEqual([
      expect.stringMatching(/^no master key/),
      undefined,
    ])
  })

  test.each(['/admin/keys', '/v1/models', '/v1/embeddings'])(
    '%s leaves at most one line a second, and the next one counts the others',
    async (path) => {
      const { get, log, clock } = await keyedGateway()
      log.length = 0
      const guess = () => get(path, path === '/v1/embeddings' ? { method: 'POST' } : {})
      for (let guesses = 0; guesses < 500; guesses++) await guess()
      const lines = new Set(log.map(({ message }) => message)).size
      expect(log).toHaveLength(lines)
      await clock.advance(1000)
      await guess()
      expect(log).toHaveLength(2 * lines)
      expect(log.at(-1)?.fields['count']).toBe(500)
    },
  )
})

describe('provider keys and client texts stay out of the log, the metrics and the errors', () => {
  const prompt = 'prompt-canary'
  const answerText = 'answer-canary'
  const echoed = `key ${providerKey} of Bearer ${providerKey} is bad`
  const body = (more: object = {}) => ({
    model: 'm',
    messages: [{ role: 'user', content: prompt, name: prompt }],
    user: prompt,
    tools: [{ type: 'function', function: { name: prompt } }],
    ...more,
  })
  const errors: readonly (readonly [string, Responder])[] = [
    ['error.message', json({ error: { message: echoed } }, { status: 401 })],
    ['error as text', json({ error: echoed }, { status: 400 })],
    ['message', json({ message: echoed }, { status: 403 })],
    ['detail', json({ detail: [{ loc: [prompt], msg: echoed }] }, { status: 422 })],
    ['plain text', whole(echoed, { status: 500 })],
    ['an object in another format', json({ why: echoed }, { status: 400 })],
    ['a 200 with an error', json({ error: { message: echoed } })],
    ['a 200 with an error and a status', json({ error: { message: echoed, code: 400 } })],
    ['a network error', broken({ kind: 'network', reason: echoed })],
  ]

  const secrets = [providerKey, providerKey.slice(0, 12)]

  test.each(errors)('in an answer: %s', async (_, responder) => {
    const gateway = await watchedGateway()
    gateway.upstream.always(responder)
    const { status, text } = await run(gateway, body())
    expect(status).toBeGreaterThanOrEqual(400)
    for (const secret of secrets) expect(text).not.toContain(secret)
    await expectClean(gateway)
  })

  const streams: readonly (readonly [string, string])[] = [
    ['an error frame before content', role + data({ error: { message: echoed } }) + done],
    ['an error frame that blames the request', data({ error: { message: echoed, code: 400 } })],
    ['an error event', `event: error\ndata: ${echoed}\n\n`],
    ['an error frame after content', role + hello + data({ error: { message: echoed } })],
    ['an error event after content', `${role}${hello}event: error\ndata: ${echoed}\n\n`],
    [
      'an error with a status after content',
      role + hello + data({ error: { message: echoed, code: 429 } }),
    ],
  ]

  test.each(streams)('in a stream: %s', async (_, sent) => {
    const gateway = await watchedGateway()
    gateway.upstream.always(stream([sent]))
    const { text } = await run(gateway, streamed(body()))
    expect(text).toContain('LM-3')
    for (const secret of secrets) expect(text).not.toContain(secret)
    await expectClean(gateway)
  })

  test('in a chain error that lists every link', async () => {
    const gateway = await watchedGateway(makeChain([{}, {}]))
    gateway.upstream.always(json({ error: { message: echoed } }, { status: 401 }))
    const { text } = await run(gateway, body())
    expect(text).toContain('LM-3004')
    for (const secret of secrets) expect(text).not.toContain(secret)
    await expectClean(gateway)
  })

  test('in requests that are refused, served, streamed or cut off', async () => {
    const gateway = await watchedGateway()
    gateway.upstream.next(
      json(completion(answerText)),
      stream([wholeStream]),
      stream([role + hello]),
      whole(answerText),
      whole(answerText),
      whole(answerText),
    )
    const headers = {
      authorization: `Bearer ${prompt}`,
      'x-gateway-metadata': `{"${prompt}`,
      cookie: prompt,
    }
    await run(gateway, body(), { headers })
    await run(gateway, streamed(body()), { headers })
    await run(gateway, streamed(body()), { headers })
    await run(gateway, body(), { headers })
    await run(gateway, body({ n: prompt }), { headers })
    // A name of a model is logged; a text is not.
    await run(gateway, body({ model: `the ${prompt}` }), { headers })
    await run(gateway, `{"model":"m","messages":${prompt}`, { headers })
    expect(gateway.log.filter(({ message }) => message === 'request')).toHaveLength(7)
    await expectClean(gateway)
  })

  test('even when a key is short or has an unusual form', async () => {
    for (const secret of ['abcd', 'a+b/c==', '{"type":"x"}', '$&$1', 'Ünïcode']) {
      const gateway = await watchedGateway(oneProvider, { env: { P_KEY: secret } })
      gateway.upstream.next(json({ error: { message: `<${secret}> ${secret}` } }, { status: 400 }))
      const { text } = await run(gateway)
      expect(JSON.parse(text).error.message).not.toContain(secret)
    }
  })

  async function expectClean({ log, get }: TestGateway): Promise<void> {
    const all = JSON.stringify(log) + (await (await get('/metrics')).text())
    for (const secret of secrets) expect(all).not.toContain(secret)
    // Debug lines contain the upstream's text, which may quote anything but the key.
    const aboveDebug = JSON.stringify(log.filter(({ level }) => level !== 'debug'))
    for (const canary of [prompt, answerText, 'Bearer']) expect(aboveDebug).not.toContain(canary)
  }
})

test('an unexpected error is LM-5001 without detail, and the log has its type and the request id', async () => {
  const gateway = await watchedGateway(oneProvider, {
    random: () => {
      throw new RangeError('internal-canary')
    },
  })
  gateway.upstream.always(json({}, { status: 500 }))
  const { status, text } = await run(gateway, request, { headers: { 'x-request-id': 'r1' } })
  expect(status).toBe(500)
  expect(JSON.parse(text)).toEqual({
    error: {
      code: 'LM-5001',
      type: 'internal',
      message: 'internal error',
      param: null,
      request_id: 'r1',
    },
  })
  expect(gateway.log.find(({ level }) => level === 'error')?.fields).toMatchObject({
    request_id: 'r1',
    error: 'RangeError',
  })
  expect(JSON.stringify(gateway.log)).not.toContain('internal-canary')
})
