import { describe, expect, test } from 'vitest'
import { readError, type TestGateway } from '../../support/gateway.ts'
import { broken, json, type Responder, stream, whole } from '../../support/scripted-upstream.ts'
import {
  asking,
  authorizedUser,
  canaries,
  event,
  payloads,
  saying,
  serviceAccount,
  token,
  tokenUri,
  vertexGateway,
} from './support.ts'

/** Advances the clock until the response of a request with retries arrives. */
async function patiently<T>({ clock }: TestGateway, answer: Promise<T>): Promise<T> {
  await clock.advance(60_000)
  return answer
}

const fallback = `
fallbacks = ["other"]
[[providers]]
name = "q"
kind = "openai"
base_url = "https://other.test/v1"
[[providers.models]]
id = "other"
modalities = ["text", "image"]
`

const otherAnswer = json({
  choices: [{ index: 0, message: { role: 'assistant', content: 'other' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
})

/** The targets of the calls: the token endpoint, the model, or another address. */
function callsOf({ upstream }: TestGateway): string[] {
  return upstream.requests.map(({ url }) => {
    if (url === tokenUri) return 'token'
    return new URL(url).hostname.endsWith('googleapis.com') ? 'model' : 'other'
  })
}

describe('the token of a service account', () => {
  test('one token serves several requests', async () => {
    const gateway = await vertexGateway({ secret: serviceAccount })
    gateway.upstream.next(token('t1'), json(saying('one')), json(saying('two')))
    for (const text of ['one', 'two']) {
      const response = await gateway.chat(asking())
      expect(await response.json()).toMatchObject({ choices: [{ message: { content: text } }] })
    }
    expect(callsOf(gateway)).toEqual(['token', 'model', 'model'])
    expect(gateway.upstream.requests[2]?.headers).toMatchObject({ authorization: 'Bearer t1' })
  })

  test('twenty concurrent requests, streamed or not, share one exchange', async () => {
    const gateway = await vertexGateway({ secret: serviceAccount })
    gateway.upstream.always((request) => {
      if (request.url === tokenUri) return token('t1')(request)
      return request.url.endsWith('alt=sse')
        ? stream([event(saying('Hi'))])(request)
        : json(saying('Hi'))(request)
    })
    const requests = Array.from({ length: 20 }, (_, index) =>
      gateway.chat(asking({ stream: index % 2 === 0 })),
    )
    const responses = await Promise.all(requests)
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]))
    expect(callsOf(gateway).filter((call) => call === 'token')).toHaveLength(1)
  })

  test('all models of a provider share its token', async () => {
    const second = '[[providers.models]]\nid = "h"'
    const gateway = await vertexGateway({ secret: serviceAccount, more: second })
    gateway.upstream.next(token('t1'), json(saying('one')), json(saying('two')))
    await gateway.chat(asking())
    expect((await gateway.chat(asking({ model: 'h' }))).status).toBe(200)
    expect(callsOf(gateway)).toEqual(['token', 'model', 'model'])
  })
})

describe('a token endpoint', () => {
  const refusal = json({ error: 'invalid_grant', error_description: 'Account.' }, { status: 400 })

  test('a refusal of the token endpoint is a provider fault, without upstream call or retry', async () => {
    const gateway = await vertexGateway({ secret: authorizedUser })
    gateway.upstream.next(refusal)
    const response = await patiently(gateway, gateway.chat(asking()))
    expect(response.status).toBe(502)
    expect(await readError(response)).toMatchObject({
      code: 'LM-3003',
      message:
        'provider p refused the request with status 401: token endpoint, status 400, invalid_grant: Account.',
    })
    expect(callsOf(gateway)).toEqual(['token'])
  })

  test('a refusal of the token endpoint fails over to the fallback', async () => {
    const gateway = await vertexGateway({ secret: authorizedUser, more: fallback })
    gateway.upstream.next(refusal, otherAnswer)
    const response = await gateway.chat(asking())
    expect(response.headers.get('x-gateway-model-used')).toBe('other')
    expect(callsOf(gateway)).toEqual(['token', 'other'])
  })

  test('an overloaded token endpoint is retried', async () => {
    const gateway = await vertexGateway({ secret: authorizedUser })
    gateway.upstream.next(whole('', { status: 503 }), token('t1'), json(saying('Hi')))
    const response = await patiently(gateway, gateway.chat(asking()))
    expect(response.status).toBe(200)
    expect(callsOf(gateway)).toEqual(['token', 'token', 'model'])
  })

  test('an unreachable token endpoint fails like an unreachable provider', async () => {
    const gateway = await vertexGateway({ secret: authorizedUser })
    gateway.upstream.always(broken())
    const response = await patiently(gateway, gateway.chat(asking()))
    expect(response.status).toBe(502)
    expect(await readError(response)).toMatchObject({ code: 'LM-3003' })
    expect(callsOf(gateway)).toEqual(['token', 'token', 'token'])
  })
})

describe('a credentials file', () => {
  const holding = (content: object) => async () => JSON.stringify(content)

  test('the credentials file supplies the project for a base_url that is only a region', async () => {
    const readFile = holding(serviceAccount)
    const gateway = await vertexGateway({
      secret: '/run/sa.json',
      baseUrl: 'europe-west4',
      readFile,
    })
    gateway.upstream.next(token('t1'), json(saying('Hi')), json(saying('Hi')))
    expect((await gateway.chat(asking())).status).toBe(200)
    expect((await gateway.chat(asking())).status).toBe(200)
    const calls = gateway.upstream.requests.map(({ url }) => url).slice(1)
    const model =
      'projects/sa-proj/locations/europe-west4/publishers/google/models/gemini-2.5-flash'
    const address = `https://europe-west4-aiplatform.googleapis.com/v1/${model}:generateContent`
    expect(calls).toEqual([address, address])
  })

  test('a credentials file without a project fails a request that needs one', async () => {
    const readFile = holding(authorizedUser)
    const gateway = await vertexGateway({ secret: '/run/user.json', baseUrl: 'global', readFile })
    const response = await gateway.chat(asking())
    expect(response.status).toBe(502)
    expect(await readError(response)).toMatchObject({
      code: 'LM-3006',
      message: expect.stringMatching(
        /its credentials have no project; set base_url to the full address/,
      ),
    })
    expect(gateway.upstream.requests).toEqual([])
  })
})

describe('an unusable provider fails only its own requests', () => {
  test.each([
    ['a secret that is invalid JSON', { secret: '{"type":"service_account"' }, /not valid JSON$/],
    [
      'a private_key that is not a key',
      { secret: { ...serviceAccount, private_key: 'x' } },
      /PKCS#8 or PKCS#1/,
    ],
    [
      'no project',
      { baseUrl: 'global' },
      /its project is unknown; set base_url to the full address/,
    ],
    ['a file, on a host without files', { secret: '/run/sa.json' }, /this host cannot read files$/],
  ])('an unusable provider fails only its own requests: %s', async (_, setup, message) => {
    const gateway = await vertexGateway(setup)
    const response = await patiently(gateway, gateway.chat(asking()))
    expect(response.status).toBe(502)
    expect(await readError(response)).toMatchObject({
      code: 'LM-3006',
      message: expect.stringMatching(message),
    })
    expect(gateway.upstream.requests).toEqual([])

    const backed = await vertexGateway({ ...setup, more: fallback })
    backed.upstream.next(otherAnswer)
    const served = await backed.chat(asking())
    expect(served.headers.get('x-gateway-model-used')).toBe('other')
  })
})

/** An error in the service's shape. */
function failing(code: number, status: string): object {
  return { error: { code, message: 'Told so.', status, details: [] } }
}

describe('error statuses of the service', () => {
  test.each([
    ['a bad request', 400, 'INVALID_ARGUMENT', 400],
    ['a model that is not served in the location', 400, 'FAILED_PRECONDITION', 400],
    ['an unknown model', 404, 'NOT_FOUND', 404],
    ['a cancelled call', 499, 'CANCELLED', 499],
    ['a missing role', 403, 'PERMISSION_DENIED', 502],
  ])('%s is not retried', async (_, code, status, surfaced) => {
    const gateway = await vertexGateway()
    gateway.upstream.next(json(failing(code, status), { status: code }))
    const response = await patiently(gateway, gateway.chat(asking()))
    expect(response.status).toBe(surfaced)
    const message = `provider p refused the request with status ${code}: Told so.`
    expect(await readError(response)).toMatchObject({ code: 'LM-3003', message })
    expect(gateway.upstream.requests).toHaveLength(1)
  })

  test.each([
    [429, 'RESOURCE_EXHAUSTED', 429, 'LM-3001'],
    [500, 'INTERNAL', 502, 'LM-3003'],
    [503, 'UNAVAILABLE', 502, 'LM-3003'],
    [504, 'DEADLINE_EXCEEDED', 502, 'LM-3003'],
  ])(
    'status %i is retried, also when the error is in a list',
    async (code, status, surfaced, error) => {
      const gateway = await vertexGateway()
      gateway.upstream.always(json([failing(code, status)], { status: code }))
      const response = await patiently(gateway, gateway.chat(asking({ stream: true })))
      expect(response.status).toBe(surfaced)
      const { code: received, message } = await readError(response)
      expect(received).toBe(error)
      expect(message).toContain('Told so.')
      expect(gateway.upstream.requests).toHaveLength(3)
    },
  )

  test('an error message does not quote a markup page', async () => {
    const gateway = await vertexGateway()
    gateway.upstream.next(whole('<html>404</html>', { status: 404 }))
    const response = await gateway.chat(asking())
    expect(response.status).toBe(404)
    expect((await readError(response))['message']).not.toContain('<')
  })
})

test.each(['auto', 'default'])(
  'a strict provider accepts the neutral service tier %s',
  async (tier) => {
    const { chat, upstream } = await vertexGateway({ strict: true })
    upstream.next(json(saying('Hi')))
    expect((await chat(asking({ service_tier: tier }))).status).toBe(200)
    expect(upstream.text()).not.toContain('ier')
  },
)

test('a base_url that is only a region becomes the full upstream address', async () => {
  const gateway = await vertexGateway({ baseUrl: 'europe-west4', secret: serviceAccount })
  gateway.upstream.next(token('t1'), stream([event(saying('Hi'))]))
  const frames = await payloads(await gateway.chat(asking({ stream: true })))
  expect(frames.at(-1)).toBe('[DONE]')
  expect(gateway.upstream.requests[1]?.url).toBe(
    'https://europe-west4-aiplatform.googleapis.com/v1/projects/sa-proj/locations/europe-west4/publishers/google/models/gemini-2.5-flash:streamGenerateContent?alt=sse',
  )
})

test('the probe of a provider with only a region calls the host of that region', async () => {
  const gateway = await vertexGateway({
    baseUrl: 'eu',
    more: '[resilience]\nhealth_check_enabled = true',
  })
  gateway.upstream.always(whole('', { status: 404 }))
  await gateway.clock.advance(0)
  const { url, headers } = gateway.upstream.requests[0] ?? {}
  expect(url).toBe('https://aiplatform.eu.rep.googleapis.com/')
  expect(headers).not.toHaveProperty('authorization')
  await gateway.gateway.close()
})

/** A responder whose error repeats the request. */
const echo =
  (status: number): Responder =>
  (request) => {
    const sent = `${JSON.stringify(request.headers)} ${new TextDecoder().decode(request.body)}`
    return json({ error: sent, error_description: decodeURIComponent(sent) }, { status })(request)
  }

test('no secret reaches a client or the log in any failure', async () => {
  const accessToken = 'ya29.canary-of-an-access-token'
  const scripts = [
    [echo(400)],
    [echo(500)],
    [broken()],
    [token(accessToken), echo(401)],
    [token(accessToken), echo(500)],
    [token(accessToken), broken()],
  ]
  const secrets = [
    authorizedUser,
    serviceAccount,
    JSON.stringify(serviceAccount).slice(1),
    JSON.stringify(serviceAccount).slice(0, -1),
    { ...serviceAccount, client_email: undefined },
    { ...serviceAccount, private_key: serviceAccount.private_key.replace('BEGIN', 'BEGAN') },
  ]
  const texts: string[] = []
  for (const secret of secrets) {
    for (const script of scripts) {
      const gateway = await vertexGateway({ secret, more: '[resilience]\nretry_max_attempts = 1' })
      gateway.upstream.next(...script)
      const response = await gateway.chat(asking())
      expect(response.status).toBeGreaterThanOrEqual(400)
      texts.push(await response.text(), JSON.stringify(gateway.log))
    }
  }
  const all = texts.join('\n')
  expect([...canaries, accessToken].filter((canary) => all.includes(canary))).toEqual([])
  expect(all).toContain('***')
})
