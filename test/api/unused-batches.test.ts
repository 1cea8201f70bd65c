import { describe, expect, test } from 'vitest'
import { numbered, readItems, texts, vectors } from '../support/embed.ts'
import { keyedGateway, masterKey, readSpend } from '../support/keyed-gateway.ts'
import { settled } from '../support/manual-clock.ts'
import { json, type Responder } from '../support/scripted-upstream.ts'

/*
 * A request that is split into several upstream calls may fail in one of them. Its vendor bills the others all the
 * same, so they are counted, charged, and reserved before another link gets the whole request.
 */

const chain = (capability: string, models: string) => `
[resilience]
retry_max_attempts = 1
[[providers]]
name = "p"
kind = "${capability === 'embed' ? 'openai' : 'tei'}"
base_url = "https://p.test/v1"
[[providers.models]]
id = "m"
capabilities = ["${capability}"]
${models}
[[providers]]
name = "q"
kind = "${capability === 'embed' ? 'openai' : 'jina'}"
base_url = "https://q.test/v1"
[[providers.models]]
id = "spare"
capabilities = ["${capability}"]
cost_per_1m_input = 10
`
const env = { P_KEY: 'k', GATEWAY_MASTER_KEY: masterKey }
const refused = json({ error: { message: 'not this one' } }, { status: 400 })
const broken = json({ error: { message: 'out of order' } }, { status: 500 })

/** Fails for the item `t1`, after all others were answered. */
function failLast(failure: Responder, other: Responder): Responder {
  return async (request) => {
    if (!request.url.startsWith('https://p.test')) return numbered(request)
    if (!readItems(request).includes('t1')) return other(request)
    await settled()
    return failure(request)
  }
}

const priced = 'max_batch_size = 1\ncost_per_1m_input = 1'
/** Nano-dollars of three tokens at each link. */
const [three, spare] = [3 * 1_000, 4 * 10_000]

describe('embeddings whose batches fail in part', () => {
  test('are charged for those that were served, where no other link answers', async () => {
    const gateway = await keyedGateway(chain('embed', priced), { env })
    const key = await gateway.key({ budget_max: 1 })
    gateway.upstream.always(failLast(refused, numbered))
    const asked = { model: 'm', input: texts(4) }
    expect((await gateway.ask(key, asked, '/v1/embeddings')).status).toBe(400)
    expect(await gateway.rows()).toMatchObject([
      { status: 400, modelUsed: 'm', provider: 'p', tokensIn: 3, cost: BigInt(three) },
    ])
    expect(await readSpend(gateway, key.id)).toBe(three / 1e9)
  })

  test('are charged beside the link that answers', async () => {
    const gateway = await keyedGateway(chain('embed', `${priced}\nfallbacks = ["spare"]`), { env })
    const key = await gateway.key({ budget_max: 1 })
    gateway.upstream.always(failLast(broken, numbered))
    const asked = { model: 'm', input: texts(4) }
    expect((await gateway.ask(key, asked, '/v1/embeddings')).status).toBe(200)
    expect(await gateway.rows()).toMatchObject([
      { status: 200, modelUsed: 'spare', tokensIn: 7, cost: BigInt(three + spare) },
    ])
  })

  test('do not go on to a link for which the budget has no room left', async () => {
    const gateway = await keyedGateway(chain('embed', `${priced}\nfallbacks = ["spare"]`), { env })
    const key = await gateway.key({ budget_max: spare / 1e9 })
    gateway.upstream.always(failLast(broken, numbered))
    const asked = { model: 'm', input: texts(4) }
    expect((await gateway.ask(key, asked, '/v1/embeddings')).status).toBeGreaterThanOrEqual(500)
    expect(gateway.upstream.requests.every(({ url }) => url.startsWith('https://p.test'))).toBe(
      true,
    )
    expect(await readSpend(gateway, key.id)).toBe(three / 1e9)
  })

  test('are charged by an estimate where the upstream reports no tokens', async () => {
    const gateway = await keyedGateway(chain('embed', priced), { env })
    const key = await gateway.key({ budget_max: 1 })
    gateway.upstream.always(failLast(refused, vectors([[1, 2]])))
    const asked = { model: 'm', input: texts(4) }
    expect((await gateway.ask(key, asked, '/v1/embeddings')).status).toBe(400)
    expect(await gateway.rows()).toMatchObject([{ tokensIn: 3, estimated: true }])
  })

  test('are charged when their vectors differ in length', async () => {
    const gateway = await keyedGateway(chain('embed', priced), { env })
    const key = await gateway.key({ budget_max: 1 })
    gateway.upstream.next(vectors([[1, 2]], 1), vectors([[1, 2, 3]], 1))
    const asked = { model: 'm', input: texts(2) }
    expect((await gateway.ask(key, asked, '/v1/embeddings')).status).toBe(502)
    expect(await gateway.rows()).toMatchObject([{ status: 502, tokensIn: 2, cost: 2_000n }])
  })
})

test('a rerank request whose parts fail in part is charged for those that were served', async () => {
  const gateway = await keyedGateway(chain('rerank', 'cost_per_1k_searches = 2'), { env })
  const key = await gateway.key({ budget_max: 1 })
  gateway.upstream.always(async (request) => {
    const sent = JSON.parse(new TextDecoder().decode(request.body)) as { texts: string[] }
    if (sent.texts.includes('t0')) {
      await settled()
      return refused(request)
    }
    return json(sent.texts.map((_, index) => ({ index, score: 0.5 })))(request)
  })
  const asked = { model: 'm', query: 'q', documents: texts(70) }
  expect((await gateway.ask(key, asked, '/v1/rerank')).status).toBe(400)
  const calls = gateway.upstream.requests.length
  expect(calls).toBeGreaterThan(2)
  // A search unit each, of 2 dollars a thousand.
  expect(await readSpend(gateway, key.id)).toBe((calls - 1) * 0.002)
})
