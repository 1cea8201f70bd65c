import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createGateway } from '../../src/index.ts'
import { type FakeVendor, startFakeVendor } from '../support/fake-vendor.ts'
import { errorOf } from '../support/gateway.ts'

/*
 * Embedded without any host: upstream calls go through the global fetch.
 */

let vendor: FakeVendor

beforeAll(async () => {
  vendor = await startFakeVendor()
})

afterAll(() => vendor.close())

async function ask(content: string, init: { stream?: boolean; signal?: AbortSignal } = {}) {
  const gateway = await createGateway({
    config: `
      [resilience]
      retry_max_attempts = 1
      [[providers]]
      name = "p"
      kind = "openai"
      base_url = "${vendor.address}/v1"
      [[providers.models]]
      id = "m"
    `,
  })
  const { stream = false, signal } = init
  const body = JSON.stringify({ model: 'm', stream, messages: [{ role: 'user', content }] })
  const request = new Request('http://gateway/v1/chat/completions', {
    method: 'POST',
    body,
    ...(signal && { signal }),
  })
  return { gateway, response: await gateway.fetch(request) }
}

describe('without a host', () => {
  test('an answer comes through', async () => {
    const { response } = await ask('hello')
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ choices: [{ message: { content: 'Hi there' } }] })
  })

  test('a stream comes through to its end', async () => {
    const { response, gateway } = await ask('hello', { stream: true })
    expect((await response.text()).endsWith('data: [DONE]\n\n')).toBe(true)
    expect(gateway.inFlight).toBe(0)
  })

  test('a refusal keeps its status', async () => {
    const { response } = await ask('status 422')
    expect(response.status).toBe(422)
    expect((await errorOf(response))['code']).toBe('LM-3003')
  })

  test('a client that leaves ends the upstream call', async () => {
    const closed = vendor.nextClose()
    const leave = new AbortController()
    const { response, gateway } = await ask('endless', { stream: true, signal: leave.signal })
    await response.body?.getReader().read()
    leave.abort()
    await closed
    expect(gateway.inFlight).toBe(0)
  })

  test('a reader that cancels its stream ends the upstream call', async () => {
    const closed = vendor.nextClose()
    const { response, gateway } = await ask('endless', { stream: true })
    const reader = response.body?.getReader()
    await reader?.read()
    await reader?.cancel()
    await closed
    expect(gateway.inFlight).toBe(0)
  })
})
