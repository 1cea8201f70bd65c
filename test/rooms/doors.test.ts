import { describe, expect, test } from 'vitest'
import { HeldUpstream } from '../support/held-upstream.ts'
import { settled } from '../support/manual-clock.ts'
import { reloadingGateway } from '../support/reloading-gateway.ts'
import { json } from '../support/scripted-upstream.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const config = `
[[providers]]
name = "p"
kind = "openai"
api_key_env = "P_KEY"
max_parallel = 1
models = [{ id = "m" }]
`

const messages = [{ role: 'user', content: 'Hi' }]
const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]

describe('every API', () => {
  test.each([
    ['/v1/chat/completions', { messages }, 'error.code'],
    ['/v1/completions', { prompt: 'Hi' }, 'error.code'],
    ['/v1/responses', { input: 'Hi' }, 'error.code'],
    ['/v1/messages', { max_tokens: 9, messages }, 'error.code'],
    ['/v1/decisions', { input: 'Hi', questions: [{ type: 'predicate' }] }, 'error.code'],
    ['/v1beta/models/m:generateContent', { contents }, 'error.details.0.reason'],
  ])(
    'a request to %s without room gets LM-3021 in the form of the API',
    async (path, body, place) => {
      const capable = 'id = "m", capabilities = ["chat", "decisions"]'
      const gateway = await watchedGateway(config.replace('id = "m"', capable))
      const held = new HeldUpstream(gateway.upstream)
      const send = () =>
        gateway.get(path, { method: 'POST', body: JSON.stringify({ model: 'm', ...body }) })
      const first = send()
      await settled()
      const refused = await send()
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
      const error = place
        .split('.')
        .reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], await refused.json())
      expect(String(error).replace('_', '-')).toBe('LM-3021')
      expect(held.total).toBe(1)
      held.answerFirst(json({ error: { message: 'no' } }, { status: 400 }))
      expect((await first).status).toBe(400)
    },
  )
})

describe('requests that are split', () => {
  const split = (max: number) => `
    [[providers]]
    name = "p"
    kind = "cohere"
    api_key_env = "P_KEY"
    max_parallel = ${max}
    models = [
      { id = "m", capabilities = ["embed"], max_batch_size = 1 },
      { id = "r", capabilities = ["rerank"] },
    ]
  `
  const vector = json({ embeddings: { float: [[1]] }, meta: { billed_units: { input_tokens: 1 } } })

  test.each([1, 3, 20])('the parts of embeddings keep to a limit of %i', async (max) => {
    const gateway = await watchedGateway(split(max))
    const held = new HeldUpstream(gateway.upstream)
    const embed = () =>
      gateway.get('/v1/embeddings', {
        method: 'POST',
        body: JSON.stringify({ model: 'm', input: Array.from({ length: 12 }, () => 'Hi') }),
      })
    const answer = embed()
    await settled()
    expect(held.running).toHaveLength(Math.min(max, 8))
    while (held.running.length > 0) {
      held.answerFirst(vector)
      await settled()
    }
    expect((await answer).status).toBe(200)
    expect(held.total).toBe(12)
    expect(held.peak).toBe(Math.min(max, 8))
    // All places are free again.
    const next = embed()
    await settled()
    expect(held.running).toHaveLength(Math.min(max, 8))
    while (held.running.length > 0) {
      held.answerFirst(vector)
      await settled()
    }
    await next
  })

  test('rerank takes a place', async () => {
    const gateway = await watchedGateway(split(1))
    const held = new HeldUpstream(gateway.upstream)
    const rank = () =>
      gateway.get('/v1/rerank', {
        method: 'POST',
        body: JSON.stringify({ model: 'r', query: 'q', documents: ['a'] }),
      })
    const first = rank()
    await settled()
    expect((await rank()).status).toBe(503)
    held.answerFirst(json({ results: [{ index: 0, relevance_score: 1 }] }))
    expect((await first).status).toBe(200)
  })
})

describe('a reload', () => {
  const limited = (settings: string) => config.replace('max_parallel = 1', settings)
  const body = { model: 'm', messages }

  test('more room lets those go that wait, less room lets nothing be cut', async () => {
    const queue = 'queue_max = 9\nqueue_ms = 1000'
    const gateway = await reloadingGateway(limited(`max_parallel = 1\n${queue}`))
    const held = new HeldUpstream(gateway.upstream)
    const key = await gateway.key()
    const answers = Array.from({ length: 5 }, () => gateway.ask(key, body))
    await settled()
    expect(held.running).toHaveLength(1)
    await gateway.change(limited(`max_parallel = 3\n${queue}`))
    await settled()
    expect(held.running).toHaveLength(3)
    await gateway.change(limited(`max_parallel = 2\n${queue}`))
    held.answerFirst()
    await settled()
    expect(held.running).toHaveLength(2)
    held.answerFirst()
    await settled()
    expect(held.running).toHaveLength(2)
    while (held.running.length > 0) {
      held.answerFirst()
      await settled()
    }
    for (const answer of answers) expect((await answer).status).toBe(200)
  })

  test.each([
    ['without the limit', limited('')],
    [
      'without the model',
      config.replace('max_parallel = 1', '').replace('id = "m"', 'id = "other"'),
    ],
  ])('those that wait go at once %s', async (_, next) => {
    const gateway = await reloadingGateway(
      limited('max_parallel = 1\nqueue_max = 9\nqueue_ms = 1000'),
    )
    const held = new HeldUpstream(gateway.upstream)
    const key = await gateway.key()
    const answers = Array.from({ length: 3 }, () => gateway.ask(key, body))
    await settled()
    await gateway.change(next)
    await settled()
    expect(held.running).toHaveLength(3)
    while (held.running.length > 0) held.answerFirst()
    for (const answer of answers) expect((await answer).status).toBe(200)
  })
})

describe('what operators see', () => {
  test('status, metrics and explain show what is taken, and who waits', async () => {
    const gateway = await reloadingGateway(
      config
        .replace('max_parallel = 1', 'max_parallel = 2')
        .replace('id = "m"', 'id = "m", max_parallel = 1, queue_max = 5, queue_ms = 1000'),
    )
    const held = new HeldUpstream(gateway.upstream)
    const key = await gateway.key()
    const answers = Array.from({ length: 3 }, () => gateway.ask(key, { model: 'm', messages }))
    await settled()
    const rooms = [
      { max_parallel: 2, running: 1, queue_max: 0, waiting: 0 },
      { max_parallel: 1, running: 1, queue_max: 5, waiting: 2 },
    ]
    const { body: status } = await gateway.admin('GET', '/admin/status')
    expect(status['rooms']).toEqual([
      { provider: 'p', model: null, ...rooms[0] },
      { provider: 'p', model: 'm', ...rooms[1] },
    ])
    const { body: explained } = await gateway.admin('POST', '/admin/explain', {
      path: '/v1/chat/completions',
      body: { model: 'm', messages },
    })
    expect(explained).toMatchObject({
      links: [
        {
          rooms: [
            { scope: 'provider', ...rooms[0] },
            { scope: 'model', ...rooms[1] },
          ],
        },
      ],
    })
    const metrics = await (await gateway.get('/metrics')).text()
    expect(metrics).toContain('gateway_upstream_queue{provider="p",model="m"} 2')
    while (held.running.length > 0) {
      held.answerFirst()
      await settled()
    }
    for (const answer of answers) await answer
    expect(await (await gateway.get('/metrics')).text()).not.toContain('gateway_upstream_queue{')
  })
})
