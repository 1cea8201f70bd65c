import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { serve } from '../../adapters/node/index.ts'
import { wholeStream } from '../support/answers.ts'
import { gatewayOver } from './support/gateway-over.ts'
import { rawClient } from './support/raw-client.ts'
import { closed, deferred, httpServer } from './support/servers.ts'

/** A gateway whose clients get their headers at once, in front of an upstream that waits for `release`. */
async function begun() {
  const release = deferred()
  const asked = deferred()
  const left = deferred()
  const vendor = await httpServer(async (request, response) => {
    await once(request.resume(), 'end')
    response.on('close', left.resolve)
    asked.resolve()
    await release.promise
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(wholeStream)
  })
  const gateway = await gatewayOver(`
    [[providers]]
    name = "p"
    kind = "openai"
    base_url = "${vendor.url}/v1"
    early_heartbeat_ms = 1
    models = [{ id = "m" }]
  `)
  const host = await serve(gateway, { port: 0 })
  onTestFinished(() => host.close())
  const client = rawClient(Number(new URL(host.address).port))
  const body = JSON.stringify({
    model: 'm',
    stream: true,
    messages: [{ role: 'user', content: 'Hi' }],
  })
  client.send(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  )
  await asked.promise
  return { client, release, left, gateway, vendor }
}

test('the headers and the ping are sent before the upstream answers, and its stream behind them', async () => {
  const { client, release } = await begun()
  const head = await client.until(': ping\n')
  expect(head).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
  expect(head).not.toMatch(/x-gateway-model-used/i)
  release.resolve()
  expect(await client.until('[DONE]')).toContain('Hello')
})

test('a client that leaves behind the ping ends the upstream call', async () => {
  const { client, left, gateway, vendor } = await begun()
  await client.until(': ping\n')
  client.socket.destroy()
  await left.promise
  await closed(vendor.sockets[0])
  await expect.poll(() => gateway.inFlight).toBe(0)
})
