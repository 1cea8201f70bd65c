import { describe, expect, test } from 'vitest'
import { broken, json } from '../../../support/scripted-upstream.ts'
import { authorizedUser, bench, failureOf, serviceAccount, token } from '../support.ts'

describe('the cached token', () => {
  test('concurrent requests share one exchange', async () => {
    const { headers, upstream } = bench(serviceAccount)
    upstream.next(token('t1'))
    const all = await Promise.all(Array.from({ length: 20 }, headers))
    expect(new Set(all.map(({ authorization }) => authorization))).toEqual(new Set(['Bearer t1']))
    expect(upstream.requests).toHaveLength(1)
  })

  test('a token is renewed five minutes before it expires', async () => {
    const { headers, upstream, clock } = bench(serviceAccount)
    upstream.next(token('t1', 3599), token('t2', 3599))
    await headers()
    await clock.advance(3_298_999)
    expect(await headers()).toEqual({ authorization: 'Bearer t1' })
    await clock.advance(1)
    const all = await Promise.all(Array.from({ length: 20 }, headers))
    expect(new Set(all.map(({ authorization }) => authorization))).toEqual(new Set(['Bearer t2']))
    expect(upstream.requests).toHaveLength(2)
  })

  test('a token with a short lifetime is renewed after half of it', async () => {
    const { headers, upstream, clock } = bench(authorizedUser)
    upstream.next(token('t1', 300), token('t2', 300))
    await headers()
    await clock.advance(149_999)
    expect(await headers()).toEqual({ authorization: 'Bearer t1' })
    await clock.advance(1)
    expect(await headers()).toEqual({ authorization: 'Bearer t2' })
  })

  test('a token without a stated lifetime counts as one hour', async () => {
    const { headers, upstream, clock } = bench(authorizedUser)
    upstream.next(json({ access_token: 't1' }), token('t2'))
    await headers()
    await clock.advance(3_299_999)
    expect(await headers()).toEqual({ authorization: 'Bearer t1' })
    await clock.advance(1)
    expect(await headers()).toEqual({ authorization: 'Bearer t2' })
  })

  test('a token is used until it expires while renewals fail, and no longer', async () => {
    const { headers, upstream, clock } = bench(authorizedUser)
    upstream.next(token('t1', 3600)).always(broken())
    await headers()
    await clock.advance(3_599_999)
    expect(await headers()).toEqual({ authorization: 'Bearer t1' })
    await clock.advance(1)
    expect(await failureOf(headers())).toMatchObject({ kind: 'network' })
    expect(upstream.requests).toHaveLength(3)
  })

  test('the lifetime of a token does not depend on the wall clock', async () => {
    const { headers, upstream, clock } = bench(authorizedUser)
    upstream.next(token('t1'))
    await headers()
    clock.now = () => 4_000_000_000_000
    expect(await headers()).toEqual({ authorization: 'Bearer t1' })
    expect(upstream.requests).toHaveLength(1)
  })

  test('a refused token is not used again', async () => {
    const { authorize, headers, upstream } = bench(serviceAccount)
    upstream.next(token('t1'), token('t2'))
    const refused = await headers()
    expect(authorize.renew?.(refused)).toBe(true)
    expect(await headers()).toEqual({ authorization: 'Bearer t2' })
  })

  test('a token that is refused during a renewal is not used when the renewal fails', async () => {
    const { authorize, headers, upstream, clock } = bench(authorizedUser)
    upstream.next(token('t1', 3600), broken())
    const refused = await headers()
    await clock.advance(3_300_000)
    const failure = failureOf(headers())
    authorize.renew?.(refused)
    expect(await failure).toMatchObject({ kind: 'network' })
  })

  test('a token that several requests report as refused is renewed once', async () => {
    const { authorize, headers, upstream } = bench(serviceAccount)
    upstream.next(token('t1'), token('t2'))
    const refused = await headers()
    authorize.renew?.(refused)
    await headers()
    expect(authorize.renew?.(refused)).toBe(true)
    expect(await headers()).toEqual({ authorization: 'Bearer t2' })
    expect(upstream.requests).toHaveLength(2)
  })
})
