import { describe, expect, test } from 'vitest'
import { completion } from '../support/answers.ts'
import { cacheHeaders, cacheOn } from '../support/cached.ts'
import { vectors } from '../support/embed.ts'
import { readError } from '../support/gateway.ts'
import { type ClientKey, type KeyedGateway, keyedGateway } from '../support/keyed-gateway.ts'
import { otters, scores } from '../support/rerank.ts'
import { json, type Responder } from '../support/scripted-upstream.ts'

interface Case {
  readonly path: string
  readonly body: object
  readonly answer: Responder
  readonly kind: string
  readonly capability: string
}

const cases: readonly Case[] = [
  {
    path: '/v1/chat/completions',
    body: { model: 'm', messages: [{ role: 'user', content: 'Hi' }] },
    answer: json(completion()),
    kind: 'openai',
    capability: 'chat',
  },
  {
    path: '/v1/embeddings',
    body: { model: 'm', input: ['Hi', 'é'] },
    answer: vectors([[0.1], [0.2]], 2),
    kind: 'openai',
    capability: 'embed',
  },
  {
    path: '/v1/rerank',
    body: { model: 'm', ...otters },
    answer: scores([[2, 0.9]], { meta: { billed_units: { search_units: 1 } } }),
    kind: 'cohere',
    capability: 'rerank',
  },
]

async function open({ kind, capability, answer }: Case): Promise<KeyedGateway> {
  const gateway = await keyedGateway(`${cacheOn()}
[[providers]]
name = "p"
kind = "${kind}"
api_key_env = "P_KEY"
[[providers.models]]
id = "m"
capabilities = ["${capability}"]
cost_per_1m_input = 1
cost_per_1k_searches = 1
cache = true
`)
  gateway.upstream.always(answer)
  return gateway
}

/** Sends these bytes. */
function post({ gateway }: KeyedGateway, { headers }: Pick<ClientKey, 'headers'>, sent: Request) {
  const request = new Request(sent, { headers: { ...headers } })
  return gateway.fetch(request)
}

function ask({ path, body }: Pick<Case, 'path' | 'body'>): Request {
  const text = JSON.stringify(body)
  return new Request(`http://gateway.test${path}`, { method: 'POST', body: text })
}

describe.each(cases)('a request to $path whose exact bytes were answered before', (one) => {
  test('gets the same bytes, and the provider is not asked', async () => {
    const gateway = await open(one)
    const key = await gateway.key()
    const first = await post(gateway, key, ask(one))
    const again = [await post(gateway, key, ask(one)), await post(gateway, key, ask(one))]
    expect(again.map(cacheHeaders)).toEqual([
      ['hit', '0'],
      ['hit', '0'],
    ])
    const text = await first.text()
    expect(await Promise.all(again.map((answer) => answer.text()))).toEqual([text, text])
    expect(again[1]?.headers.get('content-type')).toBe(first.headers.get('content-type'))
    expect(gateway.upstream.requests).toHaveLength(1)
  })

  test('is refused when its key may no longer use the model', async () => {
    const gateway = await open(one)
    const key = await gateway.key()
    await post(gateway, key, ask(one))
    expect(cacheHeaders(await post(gateway, key, ask(one)))).toEqual(['hit', '0'])
    await gateway.admin('PATCH', `/admin/keys/${key.id}`, { models: ['other'] })
    const refused = await post(gateway, key, ask(one))
    expect([refused.status, (await readError(refused))['code']]).toEqual([403, 'LM-4005'])
  })

  test('asks the provider again after the cache was emptied', async () => {
    const gateway = await open(one)
    const key = await gateway.key()
    await post(gateway, key, ask(one))
    await post(gateway, key, ask(one))
    await gateway.admin('DELETE', '/admin/cache')
    expect(cacheHeaders(await post(gateway, key, ask(one)))).toEqual(['miss'])
  })

  test('counts for the limits of its key, and has a row', async () => {
    const gateway = await open(one)
    const key = await gateway.key({ rpm_limit: 3 })
    const statuses: number[] = []
    for (let n = 0; n < 4; n++) statuses.push((await post(gateway, key, ask(one))).status)
    expect(statuses).toEqual([200, 200, 200, 429])
    const hit = { cacheHit: true, cost: 0n, model: 'm', modelUsed: 'm', stream: false }
    expect((await gateway.rows()).slice(1, 3)).toMatchObject([hit, hit])
  })

  test('is not answered with what another key got', async () => {
    const gateway = await open(one)
    const [first, second] = [await gateway.key(), await gateway.key()]
    await post(gateway, first, ask(one))
    await post(gateway, first, ask(one))
    expect(cacheHeaders(await post(gateway, second, ask(one)))).toEqual(['miss'])
  })
})

test('the same bytes at another path get the answer of that path', async () => {
  const [, , one] = cases
  if (!one) throw new Error('there is no case of rerank')
  const paths = ['/v1/rerank', '/v2/rerank', '/rerank']
  const readAll = async (gateway: KeyedGateway, key: ClientKey) => {
    const texts: string[] = []
    for (const path of paths) {
      const answer = await post(gateway, key, ask({ ...one, path }))
      texts.push(withoutId(await answer.text()))
    }
    return texts
  }
  // Each path of a gateway of its own, whose cache has nothing.
  const alone = await Promise.all(
    paths.map(async (path) => {
      const gateway = await open(one)
      const answer = await post(gateway, await gateway.key(), ask({ ...one, path }))
      return withoutId(await answer.text())
    }),
  )
  const gateway = await open(one)
  const key = await gateway.key()
  expect([await readAll(gateway, key), await readAll(gateway, key)]).toEqual([alone, alone])
})

function withoutId(text: string): string {
  return text.replace(/"id":"[^"]*"/, '"id":""')
}
