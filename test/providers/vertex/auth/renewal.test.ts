import { describe, expect, test } from 'vitest'
import { readError } from '../../../support/gateway.ts'
import { json, type Responder, silent, stream } from '../../../support/scripted-upstream.ts'
import {
  asking,
  authorizedUser,
  event,
  saying,
  serviceAccount,
  token,
  tokenUri,
  vertexGateway,
} from '../support.ts'

const expired: Responder = json(
  { error: { code: 401, message: 'Expired.', status: 'UNAUTHENTICATED' } },
  { status: 401 },
)

describe('a token that the upstream refuses before it expires', () => {
  test.each([true, false])(
    'a refused token is renewed within the same attempt; stream: %s',
    async (isStream) => {
      const gateway = await vertexGateway({ secret: serviceAccount })
      const { upstream } = gateway
      upstream.next(token('t1'), expired, token('t2'))
      upstream.next(isStream ? stream([event(saying('Hi'))]) : json(saying('Hi')))
      const response = await gateway.chat(asking({ stream: isStream }))
      expect(response.status).toBe(200)
      await response.text()
      expect(upstream.requests.map(({ headers }) => headers['authorization'])).toEqual([
        undefined,
        'Bearer t1',
        undefined,
        'Bearer t2',
      ])
      expect(upstream.text(1)).toBe(upstream.text(3))
      expect(gateway.log.at(-1)?.fields).toMatchObject({ attempts: 1 })
    },
  )

  test('a second refusal in one attempt is final', async () => {
    const { chat, upstream } = await vertexGateway({ secret: serviceAccount })
    upstream.next(token('t1'), expired, token('t2'), expired)
    const response = await chat(asking())
    expect(response.status).toBe(502)
    expect(await readError(response)).toMatchObject({
      code: 'LM-3003',
      message: 'provider p refused the request with status 401: Expired.',
    })
    expect(upstream.requests).toHaveLength(4)
  })

  test('all requests with the refused token share one renewal', async () => {
    const { chat, upstream } = await vertexGateway({ secret: serviceAccount })
    let given = 0
    upstream.always((request) => {
      if (request.url === tokenUri) return token(`t${++given}`)(request)
      const isFresh = request.headers['authorization'] === 'Bearer t2'
      return (isFresh ? json(saying('Hi')) : expired)(request)
    })
    const responses = await Promise.all(Array.from({ length: 20 }, () => chat(asking())))
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]))
    expect(given).toBe(2)
  })

  test('a configured access token is not renewed', async () => {
    const { chat, upstream } = await vertexGateway({ secret: 'ya29.test' })
    upstream.next(expired)
    expect((await chat(asking())).status).toBe(502)
    expect(upstream.requests).toHaveLength(1)
  })
})

test('waiting for a token counts against the first-token timeout', async () => {
  const gateway = await vertexGateway({
    secret: authorizedUser,
    more: '[server]\nfirst_token_timeout_ms = 3000',
  })
  gateway.upstream.always(silent())
  const answer = gateway.chat(asking())
  await gateway.clock.advance(3000)
  const response = await answer
  expect(response.status).toBe(504)
  expect(await readError(response)).toMatchObject({ code: 'LM-3011' })
})
