import { describe, expect, test } from 'vitest'
import { readError, testGateway } from '../../support/gateway.ts'
import { json, whole } from '../../support/scripted-upstream.ts'
import { answered, asking, cohereGateway, patiently } from './support.ts'

describe('a status of the vendor', () => {
  test.each([
    // upstream status, client's status and code, number of upstream calls
    [400, 400, 'LM-3003', 1],
    [401, 502, 'LM-3003', 1],
    [402, 502, 'LM-3003', 1],
    [403, 502, 'LM-3003', 1],
    [404, 404, 'LM-3003', 1],
    [405, 502, 'LM-3003', 1],
    [408, 504, 'LM-3005', 3],
    [413, 400, 'LM-2012', 1],
    [422, 422, 'LM-3003', 1],
    [429, 429, 'LM-3001', 3],
    [498, 498, 'LM-3003', 1],
    [499, 499, 'LM-3003', 1],
    [500, 502, 'LM-3003', 3],
    [501, 502, 'LM-3003', 3],
    [503, 502, 'LM-3003', 3],
    [504, 502, 'LM-3003', 3],
  ])('status %i gives the client %i %s after %i calls', async (status, expected, code, calls) => {
    const gateway = await cohereGateway()
    gateway.upstream.always(json({ id: 'e-1', message: 'why it is so' }, { status }))
    const response = await patiently(gateway, gateway.chat(asking()))
    expect(response.status).toBe(expected)
    const error = await readError(response)
    expect(error).toMatchObject({ code, message: expect.stringContaining('why it is so') })
    expect(gateway.upstream.requests).toHaveLength(calls)
  })

  test.each(['<html><h1>502 Bad Gateway</h1></html>', ''])(
    'an error message does not quote the markup of the body %j',
    async (body) => {
      const gateway = await cohereGateway()
      gateway.upstream.always(whole(body, { status: 502 }))
      const response = await patiently(gateway, gateway.chat(asking()))
      expect((await readError(response))['message']).toBe(
        'provider p refused the request with status 502',
      )
    },
  )

  test('status 405 names base_url in its message and fails over to the fallback', async () => {
    const { chat, upstream } = await testGateway(withFallback)
    upstream.next(json({ message: 'method not allowed' }, { status: 405 }))
    upstream.next(json({ message: 'method not allowed' }, { status: 405 }))
    const response = await chat(asking())
    expect((await readError(response))['message']).toContain('check base_url')
    expect(upstream.requests.map(({ url }) => new URL(url).host)).toEqual(['a.test', 'b.test'])
  })

  test('a text that the vendor blocks is not sent to a fallback', async () => {
    const { chat, upstream } = await testGateway(withFallback)
    upstream.next(json({ message: 'blocked' }, { status: 498 }))
    expect((await chat(asking())).status).toBe(498)
    expect(upstream.requests).toHaveLength(1)
  })
})

const withFallback = `
[[providers]]
name = "a"
kind = "cohere"
base_url = "https://a.test"
[[providers.models]]
id = "m"
fallbacks = ["n"]
[[providers]]
name = "b"
kind = "cohere"
base_url = "https://b.test"
[[providers.models]]
id = "n"
`

describe('the delay after a rate limit', () => {
  test('the delay of a rate limit is the one of Retry-After', async () => {
    const reset = { 'x-ratelimit-reset': String(now + 40) }
    expect(await wait({ 'retry-after': '7', ...reset })).toBe(7)
  })

  test('without Retry-After the delay lasts until x-ratelimit-reset', async () => {
    const gateway = await cohereGateway()
    const headers = { 'x-ratelimit-reset': String(now + 10) }
    gateway.upstream.next(json({ message: 'slow down' }, { status: 429, headers }))
    gateway.upstream.next(json(answered({})))
    const pending = gateway.chat(asking())
    await gateway.clock.advance(9999)
    expect(gateway.upstream.requests).toHaveLength(1)
    await gateway.clock.advance(1)
    expect((await pending).status).toBe(200)
  })

  test.each(['soon', '40', '-1', ''])('an x-ratelimit-reset of %j is ignored', async (reset) => {
    expect(await wait({ 'x-ratelimit-reset': reset })).toBeUndefined()
  })
})

/** The time of the test clock, in Unix seconds. */
const now = 1_764_000_000

/** The `retry_after` of the client's error when every attempt is refused with these headers. */
async function wait(headers: Readonly<Record<string, string>>): Promise<unknown> {
  const gateway = await cohereGateway()
  gateway.upstream.always(json({ message: 'slow down' }, { status: 429, headers }))
  const response = await patiently(gateway, gateway.chat(asking()))
  return (await readError(response))['retry_after']
}
