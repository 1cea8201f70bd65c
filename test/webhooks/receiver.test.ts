import { createHmac, timingSafeEqual } from 'node:crypto'
import { Registry } from 'prom-client'
import { expect, onTestFinished, test } from 'vitest'
import { createMetrics } from '../../adapters/node/ports/metrics.ts'
import { nodeUpstream } from '../../adapters/node/ports/upstream.ts'
import { silentLog, webClock } from '../../src/web/index.ts'
import { openWebhooks, type WebhookSettings } from '../../src/webhooks/index.ts'
import { Sealer } from '../../src/wire/seal.ts'
import { httpServer } from '../node/support/servers.ts'
import { auditEntry } from '../support/audit.ts'
import { MemoryStore } from '../support/memory-store.ts'
import { event, settings } from './support.ts'

const secret = 'whsec-of-the-test'

/** Verifies a delivery as a receiver does: first the signature of the bytes, then the age. */
function isGenuine(headers: NodeJS.Dict<string | string[]>, body: Buffer): boolean {
  const expected = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
  const given = String(headers['x-gateway-signature'])
  if (given.length !== expected.length) return false
  if (!timingSafeEqual(Buffer.from(given), Buffer.from(expected))) return false
  return headers['x-gateway-timestamp'] === String(JSON.parse(body.toString()).timestamp)
}

/** Opens webhooks with the real clock and real sockets. */
async function running(block?: WebhookSettings) {
  const upstream = nodeUpstream()
  const registry = new Registry()
  const webhooks = await openWebhooks(
    {
      store: new MemoryStore(),
      sealer: await Sealer.create(new Uint8Array(32)),
      env: {},
      meters: createMetrics(registry),
      clock: webClock,
      log: silentLog,
      upstream: upstream.send,
      random: () => 0,
    },
    block,
  )
  onTestFinished(() => {
    webhooks.close()
    upstream.close()
  })
  return { webhooks, metrics: () => registry.metrics() }
}

test('a receiver can verify deliveries, even after a failed attempt and a redirect', async () => {
  const seen: { id: unknown; isGenuine: boolean; type: unknown }[] = []
  const statuses = [503, 307, 200, 204]
  const { url, sockets } = await httpServer(async (request, response) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece)
    const body = Buffer.concat(pieces)
    const status = statuses[seen.length] ?? 500
    seen.push({
      id: request.headers['x-gateway-event-id'],
      isGenuine: request.url === '/in?team=a' && isGenuine(request.headers, body),
      type: JSON.parse(body.toString()).type,
    })
    const answer = status === 200 ? 'x'.repeat(1_000_000) : ''
    response.writeHead(status, { location: '/elsewhere' }).end(answer)
  })
  const { webhooks, metrics } = await running()
  await webhooks.putSigningKey(secret, auditEntry)
  await webhooks.put(settings({ url: `${url}/in?team=a`, retry_base_ms: 1 }), auditEntry)

  webhooks.notify(event({ name: 'bücher 📚' }))
  webhooks.notify(event({ type: 'budget.exhausted', threshold: null }))
  await expect.poll(metrics).toContain('gateway_webhook_sent_total 2')

  const [first, , , last] = seen
  const repeated = { id: first?.id, isGenuine: true, type: 'budget.threshold' }
  expect(seen).toEqual([
    repeated,
    repeated,
    repeated,
    { id: expect.stringMatching(/^evt_/), isGenuine: true, type: 'budget.exhausted' },
  ])
  expect(last?.id).not.toBe(first?.id)
  expect(sockets.length).toBeLessThanOrEqual(2)
})

test('an event for an unreachable receiver is given up, and the next one is delivered with new settings', async () => {
  const { url } = await httpServer((_, response) => response.end())
  const { webhooks, metrics } = await running(
    settings({ url: 'http://127.0.0.1:1/', retry_base_ms: 1, max_attempts: 3 }),
  )
  webhooks.notify(event())
  await expect.poll(metrics).toContain('gateway_webhook_dead_total 1')
  await webhooks.put(settings({ url }), auditEntry)
  webhooks.notify(event())
  await expect.poll(metrics).toContain('gateway_webhook_sent_total 1')
})
