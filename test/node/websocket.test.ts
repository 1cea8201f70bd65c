import { expect, test } from 'vitest'
import { gatewayOver } from './support/gateway-over.ts'
import { parsed, rawClient } from './support/raw-client.ts'
import { served } from './support/stub-gateway.ts'

const config = '[[providers]]\nname = "demo"\nkind = "demo"\nmodels = [{ id = "demo" }]'
const handshake =
  'GET /v1/responses HTTP/1.1\r\nhost: a\r\nconnection: Upgrade\r\nupgrade: websocket\r\n' +
  'sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n'

test('a WebSocket handshake is answered with 426, and its connection closes at once', async () => {
  const { port, serving } = await served(await gatewayOver(config))
  const client = rawClient(port)
  client.send(handshake)
  const { status, headers, body } = parsed(await client.whole)
  expect(status).toBe(426)
  expect(headers).toMatchObject({ upgrade: 'HTTP/1.1', connection: 'close' })
  expect(JSON.parse(body)).toMatchObject({ error: { code: 'LM-1003' } })
  expect(serving.running).toBe(0)
})

test('handshakes leave no connections, with frames behind them and without', async () => {
  const { port, serving } = await served(await gatewayOver(config))
  const frame = '\x81\x85\x01\x02\x03\x04abcde'
  const clients = Array.from({ length: 20 }, () => rawClient(port))
  for (const [index, client] of clients.entries()) {
    client.send(index % 2 ? handshake : `${handshake}${frame}`)
  }
  for (const client of clients) expect(parsed(await client.whole).status).toBe(426)
  expect(serving.running).toBe(0)
})

test('the same client goes on with POST', async () => {
  const { address, port } = await served(await gatewayOver(config))
  const client = rawClient(port)
  client.send(handshake)
  await client.whole
  const response = await fetch(`${address}/v1/responses`, {
    method: 'POST',
    body: JSON.stringify({ model: 'demo', input: 'Hi' }),
  })
  expect(response.status).toBe(200)
})
