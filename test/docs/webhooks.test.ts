import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { nodePorts, serve } from '../../adapters/node/index.ts'
import { webhookSettings } from '../../src/config/index.ts'
import { createGateway } from '../../src/index.ts'
import { MemoryStore } from '../support/memory-store.ts'
import { blocksOf, session } from './shell.ts'

/*
 * Runs the examples of the page, with the address of a local receiver. The signatures of its deliveries
 * are checked with the function that the page shows.
 */

const page = 'docs/webhooks.md'
const masterKey = '3f'.repeat(32)
const secret = 'whsec-of-the-docs'

interface Delivery {
  readonly body: Buffer
  readonly headers: NodeJS.Dict<string | string[]>
}

const deliveries: Delivery[] = []
const receiver = createServer(async (request, response) => {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece)
  deliveries.push({ body: Buffer.concat(pieces), headers: request.headers })
  response.end()
})

let host: Awaited<ReturnType<typeof serve>>
let printed: readonly string[]
let receiverUrl: string

beforeAll(async () => {
  receiver.listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/gateway`
  const gateway = await createGateway({
    ...nodePorts({ GATEWAY_LOG_LEVEL: 'error' }),
    env: { GATEWAY_MASTER_KEY: masterKey },
    openStore: async () => new MemoryStore(),
    config: `
      [auth]
      enabled = true
      [[providers]]
      name = "demo"
      kind = "demo"
      [[providers.models]]
      id = "demo"
      cost_per_1m_output = 1000
    `,
  })
  host = await serve(gateway, { port: 0 })
  printed = await session(page, {
    cwd: tmpdir(),
    address: host.address,
    env: { GATEWAY_MASTER_KEY: masterKey, WEBHOOK_SECRET: secret },
    replace: { 'https://hooks.example.com/gateway': receiverUrl },
  })
  // One answer spends half of the budget.
  const { id, key } = await (
    await call('POST', '/admin/keys', masterKey, { name: 'team a', budget_max: 0.011 })
  ).json()
  await (
    await call('POST', '/v1/chat/completions', key, {
      model: 'demo',
      max_tokens: 10,
      messages: [{ role: 'user', content: 'Hello' }],
    })
  ).text()
  await call('PATCH', `/admin/keys/${id}`, masterKey, { disabled: true })
  await vi.waitFor(() => {
    if (!typesOf(deliveries).includes('key.disabled')) throw new Error('an event is missing')
  })
})

afterAll(async () => {
  await host?.close()
  receiver.closeAllConnections()
  receiver.close()
})

test('the example that turns webhooks on is answered with the state that the page shows', () => {
  const [body = ''] = /\{"enabled".*$/m.exec(printed[0] ?? '') ?? []
  const shown = JSON.parse(blocksOf(page).filter(({ info }) => info === 'json')[1]?.text ?? '')
  expect(JSON.parse(body)).toEqual({
    ...shown,
    settings: { ...shown.settings, url: receiverUrl },
    updated_at: expect.any(Number),
  })
  expect(Object.keys(JSON.parse(body))).toEqual(Object.keys(shown))
})

test('an event has the fields that the page shows, in that order', () => {
  const shown = JSON.parse(blocksOf(page).find(({ info }) => info === 'json')?.text ?? '')
  const event = JSON.parse(String(deliveries[0]?.body))
  expect(Object.keys(event)).toEqual(Object.keys(shown))
  expect(event).toMatchObject({
    type: 'budget.threshold',
    scope: 'key',
    name: 'team a',
    threshold: 50,
  })
  for (const [field, value] of Object.entries(shown)) expect(typeof event[field]).toBe(typeof value)
})

describe('the function that checks a signature', () => {
  const program = `${blocksOf(page).find(({ info }) => info === 'js')?.text}\nexport { isGenuine }`
  const load = async (): Promise<{
    isGenuine(body: Buffer, header: unknown, secret: string): boolean
  }> => import(`data:text/javascript,${encodeURIComponent(program)}`)

  test('accepts every delivery', async () => {
    const { isGenuine } = await load()
    expect(deliveries.length).toBeGreaterThan(1)
    for (const { body, headers } of deliveries) {
      expect(isGenuine(body, headers['x-gateway-signature'], secret)).toBe(true)
    }
  })

  test('rejects a wrong secret, body or signature', async () => {
    const { isGenuine } = await load()
    const [{ body, headers } = { body: Buffer.of(), headers: {} }] = deliveries
    const signature = headers['x-gateway-signature']
    expect(isGenuine(body, signature, 'another')).toBe(false)
    expect(isGenuine(Buffer.from(`${body} `), signature, secret)).toBe(false)
    expect(isGenuine(body, undefined, secret)).toBe(false)
    expect(isGenuine(body, `${signature}0`, secret)).toBe(false)
  })
})

test('the tables list every event type, header and series', async () => {
  const text = readFileSync(page, 'utf8')
  const { events } = webhookSettings.parse({ url: receiverUrl })
  for (const type of [
    'budget.threshold',
    'budget.exhausted',
    'key.disabled',
    'key.rotated',
    'key.deleted',
  ]) {
    expect(text).toMatch(
      new RegExp(
        `\\| \`${type}\` \\|.*\\| ${(events as string[]).includes(type) ? 'on' : 'off'} \\|`,
      ),
    )
  }
  const own = Object.keys(deliveries[0]?.headers ?? {}).filter((name) => name.startsWith('x-'))
  expect(own).toHaveLength(3)
  for (const name of own) expect(text).toContain(`| \`${name}\` |`)
  const metrics = await (await fetch(`${host.address}/metrics`)).text()
  const series = [...metrics.matchAll(/^# TYPE (gateway_webhook_\w+)/gm)].map(([, name]) => name)
  expect(series).toHaveLength(4)
  for (const name of series) expect(text).toContain(`| \`${name}\` |`)
})

function typesOf(list: readonly Delivery[]): string[] {
  return list.map(({ body }) => JSON.parse(String(body)).type)
}

function call(method: string, path: string, token: string, body: object): Promise<Response> {
  const headers = { authorization: `Bearer ${token}` }
  return fetch(host.address + path, { method, headers, body: JSON.stringify(body) })
}
