import { describe, expect, test } from 'vitest'
import { completion } from '../support/answers.ts'
import { cachedProvider, cacheHeaders } from '../support/cached.ts'
import { readError } from '../support/gateway.ts'
import { keyedGateway } from '../support/keyed-gateway.ts'
import { json } from '../support/scripted-upstream.ts'

const ask = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }

describe('a request whose exact bytes were answered before', () => {
  test('is refused when its key may no longer use the model', async () => {
    const { key, chat, upstream, admin } = await keyedGateway(cachedProvider())
    const { id, headers } = await key()
    upstream.always(json(completion()))
    await chat(ask, { headers })
    expect(cacheHeaders(await chat(ask, { headers }))).toEqual(['hit', '0'])
    await admin('PATCH', `/admin/keys/${id}`, { models: ['other'] })
    const refused = await chat(ask, { headers })
    expect([refused.status, (await readError(refused))['code']]).toEqual([403, 'LM-4005'])
  })

  test('asks the provider again after the cache was emptied', async () => {
    const { key, chat, upstream, admin } = await keyedGateway(cachedProvider())
    const { headers } = await key()
    upstream.always(json(completion()))
    await chat(ask, { headers })
    await chat(ask, { headers })
    await admin('DELETE', '/admin/cache')
    expect(cacheHeaders(await chat(ask, { headers }))).toEqual(['miss'])
  })

  test('counts for the limits of its key, and has a row', async () => {
    const { key, chat, upstream, rows } = await keyedGateway(cachedProvider())
    const { headers } = await key({ rpm_limit: 3 })
    upstream.always(json(completion()))
    const statuses: number[] = []
    for (let n = 0; n < 4; n++) statuses.push((await chat(ask, { headers })).status)
    expect(statuses).toEqual([200, 200, 200, 429])
    expect((await rows()).slice(1, 3)).toMatchObject([
      { cacheHit: true, cost: 0n, model: 'm', modelUsed: 'm', stream: false },
      { cacheHit: true, cost: 0n, model: 'm', modelUsed: 'm', stream: false },
    ])
  })

  test('is not answered with what another key got', async () => {
    const { key, chat, upstream } = await keyedGateway(cachedProvider())
    const [first, second] = [await key(), await key()]
    upstream.always(json(completion()))
    await chat(ask, first)
    await chat(ask, first)
    expect(cacheHeaders(await chat(ask, second))).toEqual(['miss'])
  })
})
