import { describe, expect, test } from 'vitest'
import { completion } from '../support/answers.ts'
import { expectCommonHeaders } from '../support/contract.ts'
import { keyedGateway } from '../support/keyed-gateway.ts'
import { json } from '../support/scripted-upstream.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const request = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }

async function answer(pending: Promise<Response>) {
  const response = await pending
  return { status: response.status, body: await response.text() }
}

const ready = { status: 200, body: '{"status":"ready"}' }
const draining = { status: 503, body: '{"status":"draining"}' }

describe('GET /health/ready', () => {
  test('a gateway is ready without a key, a provider or a credential', async () => {
    const { get } = await watchedGateway('', { env: {} })
    const response = await get('/health/ready')
    expectCommonHeaders(response)
    expect(await answer(Promise.resolve(response))).toEqual(ready)
    expect(await answer((await keyedGateway()).get('/health/ready'))).toEqual(ready)
  })

  test('a failing provider does not change it', async () => {
    const gateway = await watchedGateway()
    gateway.upstream.always(json({}, { status: 401 }))
    await gateway.chat(request)
    expect(await answer(gateway.get('/health/ready'))).toEqual(ready)
  })

  test('after startDraining it is 503 with the reason, and requests are still served', async () => {
    const gateway = await watchedGateway()
    gateway.upstream.next(json(completion()))
    gateway.gateway.startDraining()
    const response = await gateway.get('/health/ready')
    expectCommonHeaders(response)
    expect(await answer(Promise.resolve(response))).toEqual(draining)
    expect((await gateway.chat(request)).status).toBe(200)
    expect((await gateway.get('/health')).status).toBe(200)
  })

  test.each(['drain', 'close'] as const)('%s makes the gateway not ready', async (end) => {
    const { gateway, get } = await watchedGateway()
    await gateway[end]()
    expect(await answer(get('/health/ready'))).toEqual(draining)
  })

  test('HEAD has the status without the body', async () => {
    const { gateway, get } = await watchedGateway()
    expect(await answer(get('/health/ready', { method: 'HEAD' }))).toEqual({ ...ready, body: '' })
    gateway.startDraining()
    expect(await answer(get('/health/ready', { method: 'HEAD' }))).toEqual({
      ...draining,
      body: '',
    })
  })

  test('pages of an allowed origin may read it', async () => {
    const { get } = await watchedGateway('[server]\ncors_origins = ["https://app.test"]')
    const { headers } = await get('/health/ready', { headers: { origin: 'https://app.test' } })
    expect(headers.get('access-control-allow-origin')).toBe('https://app.test')
  })
})
