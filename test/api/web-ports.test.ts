import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createGateway, type GatewayOptions } from '../../src/index.ts'
import { httpServer } from '../node/support/servers.ts'
import { completion } from '../support/answers.ts'
import { type FakeVendor, startFakeVendor } from '../support/fake-vendor.ts'
import { readError } from '../support/gateway.ts'
import { ScriptedUpstream } from '../support/scripted-upstream.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

/*
 * Embedded without a host: upstream calls go through the global fetch.
 */

let vendor: FakeVendor

beforeAll(async () => {
  vendor = await startFakeVendor()
})

afterAll(() => vendor.close())

async function ask(
  content: string,
  init: { stream?: boolean; signal?: AbortSignal } = {},
  address = vendor.address,
) {
  const gateway = await createGateway({
    config: `
      [resilience]
      retry_max_attempts = 1
      [[providers]]
      name = "p"
      kind = "openai"
      base_url = "${address}/v1"
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

describe('the default ports', () => {
  test('an answer passes', async () => {
    const { response } = await ask('hello')
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ choices: [{ message: { content: 'Hi there' } }] })
  })

  test('a stream passes to its end', async () => {
    const { response, gateway } = await ask('hello', { stream: true })
    expect((await response.text()).endsWith('data: [DONE]\n\n')).toBe(true)
    expect(gateway.inFlight).toBe(0)
  })

  test('an upstream error keeps its status', async () => {
    const { response } = await ask('status 422')
    expect(response.status).toBe(422)
    expect((await readError(response))['code']).toBe('LM-3003')
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

describe('encoded answers', () => {
  const answerText = JSON.stringify(completion())

  test('an answer that fetch has decoded is an ordinary answer', async () => {
    const server = await httpServer((_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(answerText)),
    )
    const { response } = await ask('hello', {}, server.url)
    expect(await response.text()).toBe(answerText)
  })

  test('an answer in a coding that fetch does not decode fails, and the coding is named', async () => {
    const server = await httpServer((_, response) =>
      response.writeHead(200, { 'content-encoding': 'snappy' }).end('bytes'),
    )
    const { response } = await ask('hello', {}, server.url)
    expect(await readError(response)).toMatchObject({
      code: 'LM-3002',
      message: 'provider p sent a malformed answer: unsupported content-encoding "snappy"',
    })
  })
})

describe('connect_timeout_ms, which the platform’s fetch does not support', () => {
  const provider = (settings = '') =>
    `[[providers]]\nname = "d"\nkind = "demo"\n${settings}\nmodels = [{ id = "d" }]`

  async function warnings(config: string, options: Partial<GatewayOptions> = {}) {
    const lines: string[] = []
    const log = { enabled: () => true, write: (_: string, line: string) => lines.push(line) }
    const gateway = await createGateway({ config, log: () => log, ...options })
    await gateway.close()
    return lines.filter((line) => line.includes('connect_timeout_ms has no effect'))
  }

  test.each([
    ['for all providers', `[resilience]\nconnect_timeout_ms = 5000\n${provider()}`],
    ['for one provider', provider('connect_timeout_ms = 300')],
  ])('a connect_timeout_ms set %s leaves a warning at the start', async (_, config) => {
    expect(await warnings(config)).toHaveLength(1)
  })

  test('a connect_timeout_ms set by the environment leaves a warning', async () => {
    const env = { GATEWAY_RESILIENCE__CONNECT_TIMEOUT_MS: '300' }
    expect(await warnings(provider(), { env })).toHaveLength(1)
  })

  test('there is no warning when it is not set, or when the host supports it', async () => {
    expect(await warnings(provider())).toEqual([])
    const { port: upstream } = new ScriptedUpstream()
    expect(await warnings(provider('connect_timeout_ms = 300'), { upstream })).toEqual([])
  })
})

describe('a request whose body was already read', () => {
  test.each(['/v1/chat/completions', '/v1/embeddings', '/v1/rerank'])(
    'a consumed body is an error of the host, not a client that left: %s',
    async (path) => {
      const { gateway, log } = await watchedGateway()
      const request = new Request(`http://gateway${path}`, { method: 'POST', body: '{}' })
      await request.text()
      const response = await gateway.fetch(request)
      expect(response.status).toBe(500)
      expect(response.headers.get('x-should-retry')).toBe('false')
      const message = expect.stringContaining('mount the gateway ahead of body parsers')
      expect(await readError(response)).toMatchObject({ code: 'LM-1001', message })
      expect(log).toMatchObject([{ level: 'error', message }])
    },
  )
})
