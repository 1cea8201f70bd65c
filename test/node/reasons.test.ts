import { describe, expect, test } from 'vitest'
import { hello, role } from '../support/answers.ts'
import { chat, gatewayOver } from './support/gateway-over.ts'
import { httpServer, tcpServer } from './support/servers.ts'
import { httpsServer } from './support/tls.ts'

/*
 * What a client reads, and an operator sees at /health/providers, when a provider cannot be reached.
 */

const config = (url: string) => `
  [resilience]
  retry_max_attempts = 1
  health_check_enabled = true
  [[providers]]
  name = "local"
  kind = "openai"
  base_url = "${url}"
  models = [{ id = "m" }]
`

async function reasonsOf(url: string) {
  const gateway = await gatewayOver(config(url))
  const response = await chat(gateway)
  const { error } = await response.json()
  expect(error).toMatchObject({ code: 'LM-3003' })
  expect(response.status).toBe(502)
  const health = async () => {
    const report = await gateway.fetch(new Request('http://gateway.test/health/providers'))
    return (await report.json()).providers.local.detail
  }
  await expect.poll(health).not.toBeNull()
  return { message: error.message, detail: await health() }
}

describe('a provider that cannot be reached', () => {
  test('a closed port: the code is in the message and in the provider health', async () => {
    const problem = 'could not be reached (ECONNREFUSED)'
    const outcome = await reasonsOf('http://127.0.0.1:1')
    expect(outcome).toEqual({ message: `provider local ${problem}`, detail: problem })
  })

  test.each([
    [
      'is of an authority that nothing vouches for',
      'server',
      'is not trusted (UNABLE_TO_VERIFY_LEAF_SIGNATURE); see NODE_EXTRA_CA_CERTS and ca_file',
    ],
    ['has expired', 'expired', 'has expired (CERT_HAS_EXPIRED)'],
  ] as const)(
    'a provider whose certificate %s: the message says so',
    async (_, certificate, problem) => {
      const { url } = await httpsServer((__, response) => response.end(), certificate)
      const detail = `could not be reached: its certificate ${problem}`
      expect(await reasonsOf(url)).toEqual({ message: `provider local ${detail}`, detail })
    },
  )
})

describe('a provider that closes the connection', () => {
  test('a close before the response is named in the message', async () => {
    const { url } = await tcpServer((socket) => socket.once('data', () => socket.resetAndDestroy()))
    const { message, detail } = await reasonsOf(url)
    expect(message).toBe('provider local closed the connection before it answered (ECONNRESET)')
    expect(detail).toBe('closed the connection before it answered (ECONNRESET)')
  })

  test('a close within the response is named in the message', async () => {
    const { url } = await httpServer((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.write('{"id":', () => setTimeout(() => response.socket?.resetAndDestroy(), 20))
    })
    const { error } = await (await chat(await gatewayOver(config(url)))).json()
    expect(error.message).toBe(
      'provider local closed the connection in the middle of its answer (ECONNRESET)',
    )
  })

  test('a close in the middle of a stream is named in the message', async () => {
    const { url } = await httpServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(role + hello, () => setTimeout(() => response.socket?.resetAndDestroy(), 20))
    })
    const text = await (await chat(await gatewayOver(config(url)), { stream: true })).text()
    expect(text).toContain(
      'provider local closed the connection in the middle of its answer (ECONNRESET)',
    )
    expect(text).toContain('LM-3010')
  })
})

describe('a provider that breaks the rules of HTTP', () => {
  test.each([
    ['no HTTP at all', '<html>', 'sent an answer that is not valid HTTP (UND_ERR_HTTP_PARSER)'],
    [
      'headers over 32 KiB',
      `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(40_000)}\r\n\r\n`,
      'sent an answer whose headers are too large (UND_ERR_HEADERS_OVERFLOW)',
    ],
    [
      'an unasked 100 Continue',
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}',
      'sent a 100 Continue that the gateway did not request (UNASKED_100_CONTINUE)',
    ],
  ])('%s: the message names the violation', async (_, answer, problem) => {
    const { url } = await tcpServer((socket) => socket.once('data', () => socket.end(answer)))
    expect(await reasonsOf(url)).toEqual({ message: `provider local ${problem}`, detail: problem })
  })
})
