import { describe, expect, test } from 'vitest'
import { broken, json } from '../../../support/scripted-upstream.ts'
import { authorizedUser, bench, failureOf, serviceAccount, token } from '../support.ts'

describe('a token', () => {
  test('is asked for once, however many requests wait for the first', async () => {
    const { headers, upstream } = bench(serviceAccount)
    upstream.next(token('t1'))
    const all = await Promise.all(Array.from({ length: 20 }, headers))
    expect(new Set(all.map(({ authorization }) => authorization))).toEqual(new Set(['Bearer t1']))
    expect(upstream.requests).toHaveLength(1)
  })

  test('serves until five minutes before its end, then another is got', async () => {
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

  test('of a short life serves for half of it', async () => {
    const { headers, upstream, clock } = bench(authorizedUser)
    upstream.next(token('t1', 300), token('t2', 300))
    await headers()
    await clock.advance(149_999)
    expect(await headers()).toEqual({ authorization: 'Bearer t1' })
    await clock.advance(1)
    expect(await headers()).toEqual({ authorization: 'Bearer t2' })
  })

  test('of no told life counts as one of an hour', async () => {
    const { headers, upstream, clock } = bench(authorizedUser)
    upstream.next(json({ access_token: 't1' }), token('t2'))
    await headers()
    await clock.advance(3_299_999)
    expect(await headers()).toEqual({ authorization: 'Bearer t1' })
    await clock.advance(1)
    expect(await headers()).toEqual({ authorization: 'Bearer t2' })
  })

  test('serves to its end while no other can be got, and no longer', async () => {
    const { headers, upstream, clock } = bench(authorizedUser)
    upstream.next(token('t1', 3600)).always(broken())
    await headers()
    await clock.advance(3_599_999)
    expect(await headers()).toEqual({ authorization: 'Bearer t1' })
    await clock.advance(1)
    expect(await failureOf(headers())).toMatchObject({ kind: 'network' })
    expect(upstream.requests).toHaveLength(3)
  })

  test('does not depend on the wall clock', async () => {
    const { headers, upstream, clock } = bench(authorizedUser)
    upstream.next(token('t1'))
    await headers()
    clock.now = () => 4_000_000_000_000
    expect(await headers()).toEqual({ authorization: 'Bearer t1' })
    expect(upstream.requests).toHaveLength(1)
  })

  test('that was refused is not shown again', async () => {
    const { authorize, headers, upstream } = bench(serviceAccount)
    upstream.next(token('t1'), token('t2'))
    const refused = await headers()
    expect(authorize.renew?.(refused)).toBe(true)
    expect(await headers()).toEqual({ authorization: 'Bearer t2' })
  })

  test('that was refused while another is being got does not stand in for it', async () => {
    const { authorize, headers, upstream, clock } = bench(authorizedUser)
    upstream.next(token('t1', 3600), broken())
    const refused = await headers()
    await clock.advance(3_300_000)
    const failure = failureOf(headers())
    authorize.renew?.(refused)
    expect(await failure).toMatchObject({ kind: 'network' })
  })

  test('refused to several requests is replaced once', async () => {
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
