import { describe, expect, test } from 'vitest'
import { completion, hello, role } from '../support/answers.ts'
import { makeChain } from '../support/chain.ts'
import { expectErrorShape } from '../support/contract.ts'
import { settled } from '../support/manual-clock.ts'
import { json, LiveUpstream, silent } from '../support/scripted-upstream.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const ask = (more: object = {}) => ({
  model: 'm',
  messages: [{ role: 'user', content: 'Hi' }],
  ...more,
})
const within = (time: string) => ({ headers: { 'x-gateway-timeout-ms': time } })
const config = (total = 1000) =>
  makeChain([{}, {}], `total_timeout_ms = ${total}\nretry_max_attempts = 1`)

describe('x-gateway-timeout-ms', () => {
  test('ends the request that long after its arrival, without another link', async () => {
    const { chat, upstream, clock } = await watchedGateway(config())
    upstream.always(silent())
    const asked = chat(ask(), within('200'))
    await clock.advance(199)
    expect(upstream.requests).toHaveLength(1)
    await clock.advance(1)
    expect(await expectErrorShape(await asked)).toMatchObject({
      code: 'LM-3013',
      message: 'the request took longer than its x-gateway-timeout-ms',
    })
    expect(upstream.requests).toHaveLength(1)
  })

  test('never lengthens the total timeout', async () => {
    const { chat, upstream, clock } = await watchedGateway(config(100))
    upstream.always(silent())
    const asked = chat(ask(), within('9'.repeat(40)))
    await clock.advance(100)
    expect(await expectErrorShape(await asked)).toMatchObject({
      code: 'LM-3013',
      message: expect.stringContaining('total_timeout_ms'),
    })
  })

  test('ends a stream after its first content with a terminal frame', async () => {
    const { chat, upstream, clock } = await watchedGateway(config())
    const live = new LiveUpstream()
    upstream.always(live.responder)
    live.push(role + hello)
    const response = await chat(ask({ stream: true }), within('200'))
    const text = response.text()
    await settled()
    await clock.advance(200)
    const last = (await text).trim().split('\n\n').at(-1) ?? ''
    expect(JSON.parse(last.slice('data: '.length))).toMatchObject({ error: { code: 'LM-3013' } })
  })

  test('a request in time is answered, and no timer is left', async () => {
    const { chat, upstream } = await watchedGateway(config())
    upstream.always(json(completion()))
    expect((await chat(ask(), within('0200'))).status).toBe(200)
  })

  test('is no fault of the provider', async () => {
    const failing = 'circuit_failure_threshold = 1\nretry_max_attempts = 1'
    const { chat, upstream, clock, get } = await watchedGateway(makeChain([{}], failing))
    upstream.always(silent())
    const asked = chat(ask(), within('5'))
    await clock.advance(5)
    await asked
    expect(await (await get('/metrics')).text()).toContain('model="m"} 0')
  })

  test.each(['0', '', '-1', '1.5', '1e3', 'soon', '100, 200'])('%j is LM-1001', async (value) => {
    const { chat, upstream } = await watchedGateway(config())
    const error = await expectErrorShape(await chat(ask(), within(value)))
    expect(error).toMatchObject({ code: 'LM-1001', param: 'x-gateway-timeout-ms' })
    expect(upstream.requests).toEqual([])
  })

  test('holds for embeddings and rerank too', async () => {
    const both = 'capabilities = ["embed", "rerank"]'
    const { get, upstream, clock } = await watchedGateway(
      makeChain([{ kind: 'jina', model: both }]),
    )
    upstream.always(silent())
    for (const [path, body] of [
      ['/v1/embeddings', { input: 'x' }],
      ['/v1/rerank', { query: 'x', documents: ['y'] }],
    ] as const) {
      const init = { method: 'POST', body: JSON.stringify({ model: 'm', ...body }) }
      const asked = get(path, { ...init, ...within('5') })
      await clock.advance(5)
      expect(await expectErrorShape(await asked)).toMatchObject({ code: 'LM-3013' })
    }
  })
})
