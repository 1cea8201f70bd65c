import { describe, expect, test } from 'vitest'
import { readError } from '../../support/gateway.ts'
import { json, whole } from '../../support/scripted-upstream.ts'
import { asking, failing, googleGateway, patiently, saying } from './support.ts'

const wrongKey = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' }
const retryInfo = (retryDelay: unknown) => ({
  '@type': 'type.googleapis.com/google.rpc.RetryInfo',
  retryDelay,
})

describe('an error status', () => {
  test.each([
    [400, 'INVALID_ARGUMENT', 400, 1],
    [400, 'FAILED_PRECONDITION', 400, 1],
    [404, 'NOT_FOUND', 404, 1],
    [409, 'ABORTED', 409, 1],
    [401, 'UNAUTHENTICATED', 502, 1],
    [403, 'PERMISSION_DENIED', 502, 1],
    [500, 'INTERNAL', 502, 3],
    [503, 'UNAVAILABLE', 502, 3],
    [504, 'DEADLINE_EXCEEDED', 502, 3],
  ])('%d %s gives the client %d after %d calls', async (code, name, status, calls) => {
    const gateway = await googleGateway()
    gateway.upstream.always(json(failing(code, name), { status: code }))
    const response = await patiently(gateway, gateway.chat(asking()))
    expect(response.status).toBe(status)
    const error = await readError(response)
    expect(error['code']).toBe('LM-3003')
    expect(error['message']).toContain(`the vendor said ${name}`)
    expect(gateway.upstream.requests).toHaveLength(calls)
  })

  test('a wrong API key fails over without a retry', async () => {
    const more = `fallbacks = ["other"]
[[providers.models]]
id = "other"
upstream_id = "gemini-2.5-pro"`
    const { chat, upstream } = await googleGateway({ more })
    upstream.next(json(failing(400, 'INVALID_ARGUMENT', [wrongKey]), { status: 400 }))
    upstream.next(json(saying('Hi')))
    const response = await chat(asking())
    expect(response.headers.get('x-gateway-model-used')).toBe('other')
  })

  test('an error inside a list is read like a bare error', async () => {
    const { chat, upstream } = await googleGateway()
    upstream.next(json([failing(400, 'INVALID_ARGUMENT', [wrongKey])], { status: 400 }))
    const response = await chat(asking())
    expect(response.status).toBe(502)
    expect((await readError(response))['message']).toContain('the vendor said INVALID_ARGUMENT')
  })

  test.each(['<html>Not Found</html>', '', '{"error":"gone"}', '{"error":{"details":7}}'])(
    'a body that is not an error of Google keeps the HTTP status: %j',
    async (body) => {
      const { chat, upstream } = await googleGateway()
      upstream.next(whole(body, { status: 404 }))
      const response = await chat(asking())
      expect(response.status).toBe(404)
      expect(JSON.stringify(await readError(response))).not.toContain('html')
    },
  )
})

describe('the delay before a retry', () => {
  /** Milliseconds until the second call. */
  async function waitFor(details: readonly object[], headers: Record<string, string> = {}) {
    const { chat, upstream, clock } = await googleGateway()
    upstream.next(json(failing(429, 'RESOURCE_EXHAUSTED', details), { status: 429, headers }))
    upstream.next(json(saying('Hi')))
    const answer = chat(asking())
    const start = clock.now()
    while (upstream.requests.length < 2) await clock.advance(10)
    expect((await answer).status).toBe(200)
    return clock.now() - start
  }

  test.each([
    ['14.074824224s', 14_080],
    ['2s', 2000],
  ])('a retryDelay of %s delays the retry by at least that time', async (delay, expected) => {
    expect(await waitFor([wrongType, retryInfo(delay)])).toBeGreaterThanOrEqual(expected - 10)
  })

  const wrongType = { '@type': 'type.googleapis.com/google.rpc.Help', links: [] }

  test.each(['0s', 'soon', '-5s', 5, null])(
    'an invalid retryDelay of %j leaves the usual delay',
    async (delay) => {
      expect(await waitFor([retryInfo(delay)])).toBeLessThan(1000)
    },
  )

  test('a Retry-After header takes precedence over the body', async () => {
    expect(await waitFor([retryInfo('30s')], { 'retry-after': '3' })).toBeLessThan(4000)
  })
})
