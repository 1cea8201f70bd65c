import { createHmac, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import express, { type RequestHandler } from 'express'
import { expect, onTestFinished, test, vi } from 'vitest'
import { nodePorts, serve } from '../../adapters/node/index.ts'
import { createGateway, type Environment } from '../../src/index.ts'
import { testProxy } from '../node/support/proxy.ts'
import { closed, httpServer, tcpServer, timed } from '../node/support/servers.ts'
import { masterKey } from '../support/keyed-gateway.ts'
import { MemoryStore } from '../support/memory-store.ts'

const secret = 'whsec-of-the-test'

/** A gateway over real sockets, with its own demo provider. */
async function hosted(env: Environment = {}) {
  const ports = nodePorts({ GATEWAY_LOG_LEVEL: 'error', ...env })
  const gateway = await createGateway({
    ...ports,
    env: { GATEWAY_MASTER_KEY: masterKey },
    openStore: async () => new MemoryStore(),
    config: `
      [auth]
      enabled = true
      [[providers]]
      name = "demo"
      kind = "demo"
      [[providers.models]]
      id = "m"
      cost_per_1m_output = 1000
    `,
  })
  const host = await serve(gateway, { port: 0 })
  const stop = async () => {
    await host.close()
    ports.close()
  }
  onTestFinished(stop)
  const send = (method: string, path: string, token: string, body?: object) =>
    fetch(host.address + path, {
      method,
      headers: { authorization: `Bearer ${token}` },
      ...(body && { body: JSON.stringify(body) }),
    })
  const admin = (method: string, path: string, body?: object) => send(method, path, masterKey, body)
  return {
    stop,
    admin,
    key: async (fields: object): Promise<{ id: string; key: string }> =>
      (await admin('POST', '/admin/keys', { name: 'bücher 📚', ...fields })).json(),
    chat: (key: string) =>
      send('POST', '/v1/chat/completions', key, {
        model: 'm',
        max_tokens: 10,
        messages: [{ role: 'user', content: 'Hello' }],
      }),
    /** Fires a `key.disabled` event. */
    async fireEvent() {
      const { id } = await (await admin('POST', '/admin/keys', { name: 'k' })).json()
      await admin('PATCH', `/admin/keys/${id}`, { disabled: true })
    },
    metrics: async () => (await fetch(`${host.address}/metrics`)).text(),
  }
}

/** A typical receiver: Express passes the raw body, and `node:crypto` checks the signature. */
async function receiver(answer: RequestHandler) {
  const seen: { body: Record<string, unknown>; headers: NodeJS.Dict<string | string[]> }[] = []
  const app = express()
  app.post('/hook', express.raw({ type: 'application/json' }), (request, response, next) => {
    const given = Buffer.from(String(request.headers['x-gateway-signature']))
    const mac = createHmac('sha256', secret).update(request.body).digest('hex')
    const expected = Buffer.from(`sha256=${mac}`)
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
      return void response.sendStatus(401)
    }
    seen.push({ body: JSON.parse(request.body.toString()), headers: request.headers })
    answer(request, response, next)
  })
  const server = createServer(app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/hook`, seen }
}

test('a receiver that checks every signature gets the events of real requests and changes', async () => {
  const { admin, key, chat, metrics } = await hosted()
  // The first answer is a failure, so one event is delivered twice.
  const { url, seen } = await receiver((_, response) => {
    response.sendStatus(seen.length === 1 ? 503 : 204)
  })
  await admin('PUT', '/admin/webhooks/signing-key', { secret })
  const events = [
    'budget.threshold',
    'budget.exhausted',
    'key.disabled',
    'key.rotated',
    'key.deleted',
  ]
  await admin('PUT', '/admin/webhooks', { url, events, retry_base_ms: 1 })

  const client = await key({ budget_max: 0.011 })
  await (await chat(client.key)).text()
  expect((await chat(client.key)).status).toBe(402)
  const path = `/admin/keys/${client.id}`
  await admin('POST', `${path}/rotate`)
  await admin('PATCH', path, { disabled: true })
  await admin('DELETE', path)
  const listFired = () => [...new Set(seen.map(({ body }) => body['threshold'] ?? body['type']))]
  await vi.waitFor(() => expect(listFired()).toContain('key.deleted'))

  expect(listFired().slice(-4)).toEqual([
    'budget.exhausted',
    'key.rotated',
    'key.disabled',
    'key.deleted',
  ])
  expect(listFired()[0]).toBe(50)
  expect(seen[1]).toEqual({ ...seen[0], headers: expect.anything() })
  for (const { body, headers } of seen) {
    expect(headers['x-gateway-event-id']).toBe(body['id'])
    expect(headers['x-gateway-timestamp']).toBe(String(body['timestamp']))
    expect(body).toMatchObject({ subject_id: client.id, name: 'bücher 📚', scope: 'key' })
    expect(JSON.stringify(body)).not.toContain('sk-gw-')
  }
  const sent = `gateway_webhook_sent_total ${listFired().length}\n`
  await vi.waitFor(async () => expect(await metrics()).toContain(sent))
})

test('a receiver is reached through the proxy of the environment', async () => {
  const proxy = await testProxy()
  const { admin, fireEvent } = await hosted({ HTTP_PROXY: proxy.url })
  const { url, seen } = await receiver((_, response) => response.sendStatus(204))
  const named = url.replace('127.0.0.1', 'hooks.test')
  await admin('PUT', '/admin/webhooks/signing-key', { secret })
  await admin('PUT', '/admin/webhooks', { url: named, events: ['key.disabled'] })
  await fireEvent()
  await vi.waitFor(() => expect(seen).toHaveLength(1))
  expect(proxy.asked).toEqual([`POST ${named}`])
})

test('a redirect of a receiver is not followed, and its target receives nothing', async () => {
  const { admin, fireEvent, metrics } = await hosted()
  const paths: string[] = []
  const elsewhere = await httpServer((request, response) => {
    paths.push(`elsewhere ${request.url}`)
    response.end()
  })
  const { url } = await httpServer((request, response) => {
    paths.push(String(request.url))
    const status = [301, 302, 303, 307, 308][paths.length - 1] ?? 204
    response.writeHead(status, { location: paths.length % 2 ? elsewhere.url : '/other' }).end()
  })
  await admin('PUT', '/admin/webhooks', { url: `${url}/hook`, max_attempts: 5, retry_base_ms: 1 })
  await fireEvent()
  await vi.waitFor(async () => expect(await metrics()).toContain('gateway_webhook_dead_total 1\n'))
  expect(paths).toEqual(Array(5).fill('/hook'))
})

test('an endless answer of a receiver counts by its status, and the rest is not read', async () => {
  const { admin, fireEvent, metrics } = await hosted()
  let written = 0
  const { url, sockets } = await httpServer((_, response) => {
    const more = () => {
      do written += 65_536
      while (response.write('x'.repeat(65_536)) && !response.destroyed)
    }
    response.on('drain', more)
    more()
  })
  await admin('PUT', '/admin/webhooks', { url })
  await fireEvent()
  await vi.waitFor(async () => expect(await metrics()).toContain('gateway_webhook_sent_total 1\n'))
  await closed(sockets[0])
  // The socket buffers of the system add to the bytes that the gateway reads.
  expect(written).toBeLessThan(16 * 1024 * 1024)
})

test('a shutdown waits neither for a silent receiver nor for an unreachable one', async () => {
  const mute = await tcpServer(() => {})
  for (const url of [mute.url, 'http://127.0.0.1:1/', 'http://192.0.2.1/']) {
    const { admin, fireEvent, stop } = await hosted()
    await admin('PUT', '/admin/webhooks', { url, timeout_ms: 60_000, retry_base_ms: 60_000 })
    await fireEvent()
    await fireEvent()
    if (url === mute.url) await vi.waitFor(() => expect(mute.sockets).toHaveLength(1))
    expect(await timed(stop())).toBeLessThan(1_000)
  }
  await closed(mute.sockets[0])
})
