import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { nodePorts, type ServeOptions, serve } from '../../adapters/node/index.ts'
import { createGateway } from '../../src/index.ts'
import { completion, data } from '../support/answers.ts'
import { type RawClient, rawClient } from './support/raw-client.ts'
import { httpServer } from './support/servers.ts'

const MB = 1024 * 1024

interface Hosted extends ServeOptions {
  /** Further settings of the server. */
  readonly settings?: string
  readonly kind?: string
}

/** A gateway with one place for large bodies, and an upstream whose answers the test gives. */
async function hosted({ settings = '', kind = 'openai', ...options }: Hosted = {}) {
  const asked: ServerResponse[] = []
  const upstream = await httpServer((request, response) => {
    request.resume()
    request.once('end', () => asked.push(response))
  })
  const ports = nodePorts({})
  const gateway = await createGateway({
    ...ports,
    log: undefined,
    config: `
      [server]
      body_limit = ${64 * MB}
      large_bodies = 1
      ${settings}
      [[providers]]
      name = "p"
      kind = "${kind}"
      base_url = "${upstream.url}"
      models = [{ id = "m" }]
    `,
  })
  const shutdown = { drain: 100, gracePeriod: 100 }
  const serving = await serve(gateway, { host: '127.0.0.1', port: 0, shutdown, ...options })
  onTestFinished(async () => {
    for (const response of asked) response.destroy()
    await serving.close()
    await ports.close()
  })
  return { gateway, asked, port: Number(new URL(serving.address).port) }
}

const head = (length: number, more = '') =>
  `POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\ncontent-length: ${length}\r\n${more}\r\n`

function body(length: number, more: object = {}): string {
  const messages = [{ role: 'user', content: 'Hi' }]
  return JSON.stringify({ model: 'm', messages, ...more }).padEnd(length, ' ')
}

const soon = (check: () => void) => vi.waitFor(check, 10_000)

/** A client whose large body has the only place. */
async function firstOf({ port, asked }: Awaited<ReturnType<typeof hosted>>): Promise<RawClient> {
  const client = rawClient(port)
  client.send(head(2 * MB) + body(2 * MB))
  await soon(() => expect(asked).toHaveLength(1))
  return client
}

function answer(response: ServerResponse | undefined): void {
  response?.writeHead(200, { 'content-type': 'application/json' })
  response?.end(JSON.stringify(completion()))
}

/** Resolves when the peer has taken nothing for a while. */
async function still(socket: Socket): Promise<void> {
  for (let before = -1; socket.writableLength !== before; ) {
    before = socket.writableLength
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

describe('a large body that waits for its slot', () => {
  test('a waiting large body is not read from the socket', async () => {
    const host = await hosted()
    await firstOf(host)
    const second = rawClient(host.port)
    second.send(head(32 * MB) + body(32 * MB))
    await still(second.socket)
    // What the systems of both sides hold, at the most.
    expect(second.socket.writableLength).toBeGreaterThan(16 * MB)
    expect(host.gateway.buffers.bytes).toBe(2 * MB)

    answer(host.asked[0])
    await soon(() => expect(host.asked).toHaveLength(2))
    answer(host.asked[1])
    expect(await second.until('\r\n\r\n')).toContain('HTTP/1.1 200')
    expect(host.gateway.buffers.bytes).toBe(0)
  })

  test('a waiting chunked body is read up to 1 MiB', async () => {
    const host = await hosted()
    await firstOf(host)
    const second = rawClient(host.port)
    const chunks = `${(32 * MB).toString(16)}\r\n${body(32 * MB)}\r\n0\r\n\r\n`
    second.send(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n${chunks}`,
    )
    await soon(() => expect(host.gateway.buffers.bytes).toBe(3 * MB))
    await still(second.socket)
    expect(second.socket.writableLength).toBeGreaterThan(16 * MB)
    expect(host.gateway.buffers.bytes).toBe(3 * MB)
    answer(host.asked[0])
    await soon(() => expect(host.asked).toHaveLength(2))
    answer(host.asked[1])
    expect(await second.until('\r\n\r\n')).toContain('HTTP/1.1 200')
  })

  test('100 Continue is sent only when the body has its slot', async () => {
    const host = await hosted()
    await firstOf(host)
    const second = rawClient(host.port)
    second.send(head(2 * MB, 'expect: 100-continue\r\n'))
    await still(second.socket)
    expect(second.socket.bytesRead).toBe(0)
    answer(host.asked[0])
    await second.until('HTTP/1.1 100 Continue')
    second.send(body(2 * MB))
    await soon(() => expect(host.asked).toHaveLength(2))
    answer(host.asked[1])
    await second.until('HTTP/1.1 200')
  })

  test('a waiting client that leaves does not free the slot of another', async () => {
    const host = await hosted()
    const first = await firstOf(host)
    const second = rawClient(host.port)
    second.send(head(2 * MB) + body(1000))
    await still(second.socket)
    second.socket.destroy()
    await soon(() => expect(host.gateway.inFlight).toBe(1))
    answer(host.asked[0])
    await first.until('HTTP/1.1 200')
    expect(host.gateway.buffers.bytes).toBe(0)
  })

  test('a body that waits past the total timeout gets an error, and the connection stays usable', async () => {
    const resilience = '[resilience]\ntotal_timeout_ms = 300\n[image_fetch]'
    const host = await hosted({ settings: resilience })
    await firstOf(host)
    const second = rawClient(host.port)
    second.send(head(2 * MB) + body(2 * MB))
    expect(await second.until('LM-3013')).toContain('HTTP/1.1 504')
    second.send('GET /health HTTP/1.1\r\nhost: a\r\n\r\n')
    await second.until('"ok"')
  })
})

describe('the request timeout', () => {
  const limits = { headersTimeout: 200, requestTimeout: 200, connectionsCheckingInterval: 20 }

  test('the request timeout does not run while the body waits for its slot', async () => {
    const host = await hosted({ limits })
    await firstOf(host)
    const second = rawClient(host.port)
    second.send(head(2 * MB) + body(2 * MB))
    await new Promise((resolve) => setTimeout(resolve, 600))
    expect(second.socket.bytesRead).toBe(0)
    answer(host.asked[0])
    await soon(() => expect(host.asked).toHaveLength(2))
    answer(host.asked[1])
    await second.until('HTTP/1.1 200')
  })

  test('the request timeout runs as soon as the body is read', async () => {
    const host = await hosted({ limits })
    await firstOf(host)
    const second = rawClient(host.port)
    second.send(head(2 * MB) + body(1000))
    await new Promise((resolve) => setTimeout(resolve, 600))
    expect(second.socket.bytesRead).toBe(0)
    answer(host.asked[0])
    expect(await second.whole).toContain('HTTP/1.1 408')
    await soon(() => expect(host.gateway.inFlight).toBe(0))
    expect(host.gateway.buffers.bytes).toBe(0)
  })
})

describe('bytes for a client that does not read', () => {
  test('bytes for a slow client are counted until it leaves', async () => {
    const host = await hosted()
    const client = rawClient(host.port)
    client.socket.pause()
    client.send(head(100) + body(100))
    await soon(() => expect(host.asked).toHaveLength(1))
    host.asked[0]?.writeHead(200, { 'content-type': 'application/json' })
    host.asked[0]?.end(JSON.stringify(completion('x'.repeat(32 * MB))))
    await soon(() => expect(host.gateway.inFlight).toBe(0))
    expect(host.gateway.buffers.bytes).toBeGreaterThan(16 * MB)
    client.socket.destroy()
    await soon(() => expect(host.gateway.buffers.bytes).toBe(0))
  })

  test('a response to a slow client is cut off when the buffers are full', async () => {
    const host = await hosted({ settings: `buffer_limit = ${40 * MB}` })
    const send = async () => {
      const client = rawClient(host.port)
      client.socket.pause()
      client.send(head(100) + body(100))
      return client
    }
    const clients = [await send(), await send()]
    await soon(() => expect(host.asked).toHaveLength(2))
    for (const response of host.asked) {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(completion('x'.repeat(24 * MB))))
    }
    await soon(() => expect(host.gateway.inFlight).toBe(0))
    await soon(() => expect(host.gateway.buffers.bytes).toBeLessThan(40 * MB))
    expect(host.gateway.buffers.bytes).toBeGreaterThan(10 * MB)
    for (const { socket } of clients) socket.destroy()
    await soon(() => expect(host.gateway.buffers.bytes).toBe(0))
  })
})

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

const content = {
  openai: data({ choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: null }] }),
  anthropic: [
    'event: message_start\ndata: {"type":"message_start","message":{"id":"a","usage":{}}}\n\n',
    'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n',
    'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}\n\n',
  ].join(''),
  cohere: [
    'data: {"type":"message-start","id":"a"}\n\n',
    'data: {"type":"content-delta","index":0,"delta":{"message":{"content":{"text":"Hi"}}}}\n\n',
  ].join(''),
  google: 'data: {"candidates":[{"content":{"parts":[{"text":"Hi"}]}}]}\n\n',
} as const

test.each(Object.entries(content))(
  'the bytes of large bodies are free when their streams have begun: %s',
  async (kind, frames) => {
    const held = () => {
      collectGarbage()
      return process.memoryUsage().arrayBuffers
    }
    // Nothing of another test is left that could be freed meanwhile.
    await soon(() => expect(held()).toBeLessThan(4 * MB))
    const host = await hosted({ kind })
    for (let count = 1; count <= 4; count++) {
      const client = rawClient(host.port)
      client.send(head(8 * MB) + body(8 * MB, { stream: true }))
      await soon(() => expect(host.asked).toHaveLength(count))
      host.asked.at(-1)?.writeHead(200, { 'content-type': 'text/event-stream' })
      host.asked.at(-1)?.write(frames)
      await client.until('HTTP/1.1 200')
    }
    expect(host.gateway.inFlight).toBe(4)
    await soon(() => expect(held()).toBeLessThan(4 * MB))
  },
)
