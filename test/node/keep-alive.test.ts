import type { Socket } from 'node:net'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { NodeUpstream } from '../../adapters/node/ports/upstream.ts'
import { completion } from '../support/answers.ts'
import { chat, gatewayOver } from './support/gateway-over.ts'
import { httpServer, type TestServer, tcpServer } from './support/servers.ts'
import { call, upstream, whole } from './support/upstream.ts'

describe('an upstream that closes idle connections', () => {
  test('idle connections closed at any time lose no request and repeat none', {
    timeout: 60_000,
  }, async () => {
    const server = await impatient()
    const port = upstream()
    // Two at a time use each other's connections, so they meet them at every age.
    await Promise.all(
      Array.from({ length: 8 }, async (_, worker) => {
        for (let round = 0; round < 200; round++) await ask(port, server, `${worker}-${round}`)
      }),
    )
    for (let round = 0; round < 400; round++) await ask(port, server, `alone-${round}`)
    expect(server.served.size).toBe(2_000)
    expect([...server.served].filter(([, times]) => times !== 1)).toEqual([])
    // Else no race has been run.
    expect(server.sockets.length).toBeGreaterThan(100)
    expect(server.sockets.length).toBeLessThan(2_000)
  })
})

describe('an upstream that keeps idle connections', () => {
  test('an idle connection is closed after four seconds, even if the upstream offers ten minutes', async () => {
    const server = await tcpServer((socket) =>
      socket.on('data', () =>
        socket.write('HTTP/1.1 200 OK\r\nkeep-alive: timeout=600\r\ncontent-length: 2\r\n\r\nok'),
      ),
    )
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    expect(await whole(await call(upstream(), { url: server.url }))).toBe('ok')
    const [socket] = server.sockets
    const closed = vi.fn<() => void>()
    socket?.once('close', closed)
    await new Promise(setImmediate)
    vi.advanceTimersByTime(3_900)
    await new Promise(setImmediate)
    expect(closed).not.toHaveBeenCalled()
    vi.advanceTimersByTime(200)
    await vi.waitFor(() => expect(closed).toHaveBeenCalled())
  })
})

describe('an upstream that crashes on a request', () => {
  const config = (url: string) => `
    [resilience]
    retry_max_attempts = 2
    retry_base_ms = 1
    [[providers]]
    name = "p"
    kind = "openai"
    base_url = "${url}"
    models = [{ id = "m" }]
  `

  test('an upstream that crashes after a second gets the request exactly retry_max_attempts times', async () => {
    let calls = 0
    const server = await httpServer((request, response) => {
      if (request.headers['x-request'] === 'warm') return answer(response)
      calls++
      setTimeout(() => request.socket.destroy(), 1_050)
    })
    const port = upstream()
    const gateway = await gatewayOver(config(server.url), { upstream: port.send })
    await warm(port, server, 3)
    expect((await chat(gateway)).status).toBe(502)
    expect(calls).toBe(2)
  })

  test('an upstream that crashes at once gets the request one time more, with any number of connections', async () => {
    let calls = 0
    const server = await httpServer((request, response) => {
      if (request.headers['x-request'] === 'warm') return answer(response)
      calls++
      request.socket.destroy()
    })
    const port = upstream()
    const gateway = await gatewayOver(config(server.url), { upstream: port.send })
    await warm(port, server, 5)
    expect((await chat(gateway)).status).toBe(502)
    expect(calls).toBe(3)
  })
})

function answer(response: { end(text: string): void }): void {
  response.end(JSON.stringify(completion()))
}

/** Leaves so many idle connections behind. */
async function warm(port: NodeUpstream, { url }: TestServer, count: number): Promise<void> {
  const calls = Array.from({ length: count }, () =>
    call(port, { url, headers: { 'x-request': 'warm' } }),
  )
  await Promise.all(calls.map(async (each) => whole(await each)))
}

async function ask(port: NodeUpstream, { url }: TestServer, id: string): Promise<void> {
  const response = await call(port, { url, headers: { 'x-request': id } })
  expect(await whole(response)).toBe(id)
}

/** Answers every request with its id, and closes a connection that is idle for a moment. */
async function impatient() {
  const served = new Map<string, number>()
  const server = await tcpServer((socket) => {
    let idle: NodeJS.Timeout | undefined
    let seen = ''
    socket.on('close', () => clearTimeout(idle))
    socket.on('data', (bytes: Buffer) => {
      // It has closed the connection before the request came.
      if (socket.writableEnded) return
      clearTimeout(idle)
      seen += bytes.toString()
      const id = /\r\nx-request: (\S+)\r\n[^]*\{\}$/.exec(seen)?.[1]
      if (id === undefined) return
      seen = ''
      served.set(id, (served.get(id) ?? 0) + 1)
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${id.length}\r\n\r\n${id}`)
      idle = setTimeout(() => close(socket), Math.random() * 3)
    })
  })
  return { ...server, served }
}

/** In good order, or with a reset. */
function close(socket: Socket): void {
  if (Math.random() < 0.5) socket.end()
  else socket.resetAndDestroy()
}
