import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { activeTime, closed, deferred, httpServer, tcpServer, timed } from './support/servers.ts'
import { type Call, call, failure, text, upstream, whole } from './support/upstream.ts'

const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

describe('an upstream request', () => {
  test('method, path, headers and body are sent as given, and status, headers and body are returned', async () => {
    const seen: string[] = []
    const { url } = await httpServer(async (request, response) => {
      let body = ''
      for await (const piece of request) body += piece
      seen.push(`${request.method} ${request.url} ${request.headers['x-key']} ${body}`)
      response.writeHead(201, { 'x-answer': '42', 'set-cookie': ['a=1', 'b=2'] }).end('made')
    })
    const response = await call(upstream(), {
      url: `${url}/v1/chat?a=b`,
      headers: { 'x-key': 'value' },
      body: new TextEncoder().encode('{"model":"m"}'),
    })
    expect(seen).toEqual(['POST /v1/chat?a=b value {"model":"m"}'])
    expect(response.status).toBe(201)
    expect(response.header('x-answer')).toBe('42')
    expect(response.header('set-cookie')).toBe('a=1, b=2')
    expect(response.header('x-absent')).toBeUndefined()
    expect(await whole(response)).toBe('made')
  })

  test('the connection of the previous request is reused', async () => {
    const server = await httpServer((_, response) => response.end('ok'))
    const port = upstream()
    for (let round = 0; round < 3; round++) {
      expect(await whole(await call(port, server))).toBe('ok')
    }
    expect(server.sockets).toHaveLength(1)
  })

  test('a connection that has served for a minute closes after its answer', async () => {
    const server = await httpServer((_, response) => response.end('ok'))
    const port = upstream()
    onTestFinished(() => void vi.restoreAllMocks())
    const start = performance.now()
    const now = vi.spyOn(performance, 'now')
    for (const [seconds, sockets] of [
      [0, 1],
      [59, 1],
      [61, 1],
      [62, 2],
      [120, 2],
      [123, 2],
      [124, 3],
    ] as const) {
      now.mockReturnValue(start + seconds * 1_000)
      expect(await whole(await call(port, server))).toBe('ok')
      expect(server.sockets).toHaveLength(sockets)
    }
  })

  test('a provider with a dedicated pool shares no connection', async () => {
    const server = await httpServer((_, response) => response.end('ok'))
    const port = upstream()
    await whole(await call(port, server))
    await whole(await call(port, { ...server, dedicatedPool: true }))
    await whole(await call(port, { ...server, dedicatedPool: true }))
    expect(server.sockets).toHaveLength(2)
  })

  test('concurrent requests use one connection each', async () => {
    const server = await httpServer((_, response) => response.end('ok'))
    const port = upstream()
    const calls = Array.from({ length: 5 }, () => call(port, server))
    await Promise.all(calls.map(async (response) => whole(await response)))
    expect(server.sockets).toHaveLength(5)
  })

  test('redirects are not followed', async () => {
    const { url } = await httpServer((_, response) =>
      response.writeHead(307, { location: 'http://127.0.0.1:1/elsewhere' }).end(),
    )
    expect((await call(upstream(), { url })).status).toBe(307)
  })

  test('informational responses are skipped', async () => {
    const { url } = await tcpServer((socket) =>
      socket.once('data', () =>
        socket.write(`HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n${ok}`),
      ),
    )
    const response = await call(upstream(), { url })
    expect(response.status).toBe(200)
    expect(await whole(response)).toBe('ok')
  })
})

describe('a body is read without pausing', () => {
  // undici crashes the process, or loses the answer, when its body is read at the client's pace.
  test('a slow reader still gets a response that was complete when the upstream closed', async () => {
    const body = 'x'.repeat(1024 * 1024)
    const server = await tcpServer((socket) =>
      socket.once('data', () =>
        socket.end(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`),
      ),
    )
    const port = upstream()
    const response = await call(port, server)
    await closed(server.sockets[0])
    await expect.poll(() => port.openSockets).toBe(0)
    expect((await whole(response)).length).toBe(body.length)
  })

  test('an unread response that breaks off returns the received part, then the failure', async () => {
    const server = await tcpServer((socket) =>
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\npart\r\n', () =>
          socket.destroy(),
        )
      }),
    )
    const port = upstream()
    const { body } = await call(port, server)
    await expect.poll(() => port.openSockets).toBe(0)
    expect(text(await body.read())).toBe('part')
    expect(await failure(body.read())).toMatchObject({ kind: 'network' })
  })

  test('a reader that falls behind the limit ends the request as slow-client', async () => {
    const server = await httpServer((_, response) => {
      const flood = () => {
        while (response.write(Buffer.alloc(64 * 1024)));
        response.once('drain', flood)
      }
      flood()
    })
    const port = upstream()
    const { body } = await call(port, { ...server, queueLimit: 1024 * 1024 })
    await closed(server.sockets[0])
    expect(await failure(body.read())).toEqual({ kind: 'slow-client' })
    await expect.poll(() => port.openSockets).toBe(0)
  })
})

describe('connecting', () => {
  test('connecting to an address that never responds ends at the connect timeout', async () => {
    // It accepts the connection, and never says a word of TLS.
    const { port } = await tcpServer(() => {})
    const url = `https://127.0.0.1:${port}`
    const outcome = failure(call(upstream(), { url, connectTimeout: 150 }))
    const time = await timed(outcome)
    expect(await outcome).toEqual({ kind: 'timeout', limit: 'connect' })
    expect(time).toBeGreaterThan(145)
    expect(time).toBeLessThan(1_000)
  })

  test('the connect timeout does not apply after the connection is open', async () => {
    const { url } = await httpServer((_, response) => setTimeout(() => response.end('late'), 60))
    expect(await whole(await call(upstream(), { url, connectTimeout: 30 }))).toBe('late')
  })

  test('a closed port, an invalid URL and an illegal header fail with codes', async () => {
    const { url } = await tcpServer(() => {})
    const port = upstream()
    const secret = 'sk-secret\r\nx: y'
    const failures = await Promise.all([
      failure(call(port, { url: 'http://127.0.0.1:1/' })),
      failure(call(port, { url: 'nowhere' })),
      failure(call(port, { url, headers: { authorization: secret } })),
    ])
    expect(failures).toEqual([
      { kind: 'network', reason: 'ECONNREFUSED', phase: 'connecting' },
      { kind: 'network', reason: 'ERR_INVALID_URL', phase: 'connecting' },
      { kind: 'network', reason: 'UND_ERR_INVALID_ARG', phase: 'waiting' },
    ])
    await expect.poll(() => port.openSockets).toBe(0)
  })
})

describe('an abort frees the connection within 100 ms', () => {
  test('an abort while connecting frees the connection', async () => {
    const accepted = deferred()
    const server = await tcpServer(() => accepted.resolve())
    const { port, abort, outcome } = abortable({ url: `https://127.0.0.1:${server.port}` })
    await accepted.promise
    abort()
    expect(await activeTime(closed(server.sockets[0]))).toBeLessThan(100)
    expect(await outcome).toEqual({ kind: 'network', reason: 'aborted' })
    await expect.poll(() => port.openSockets).toBe(0)
  })

  test('an abort while waiting for headers frees the connection', async () => {
    const asked = deferred()
    const server = await httpServer(() => asked.resolve())
    const { port, abort, outcome } = abortable(server)
    await asked.promise
    abort()
    expect(await activeTime(closed(server.sockets[0]))).toBeLessThan(100)
    expect(await outcome).toEqual({ kind: 'network', reason: 'aborted' })
    await expect.poll(() => port.openSockets).toBe(0)
  })

  test('an abort while the body arrives frees the connection', async () => {
    const server = await httpServer((_, response) => response.write('first'))
    const { port, abort, pending } = abortable(server)
    const { body } = await pending
    expect(text(await body.read())).toBe('first')
    const read = failure(body.read())
    abort()
    expect(await activeTime(closed(server.sockets[0]))).toBeLessThan(100)
    expect(await read).toEqual({ kind: 'network', reason: 'aborted' })
    await expect.poll(() => port.openSockets).toBe(0)
  })

  test('an aborted signal sends nothing', async () => {
    const server = await httpServer((_, response) => response.end('ok'))
    const signal = AbortSignal.abort()
    expect(await failure(call(upstream(), { ...server, signal }))).toMatchObject({
      reason: 'aborted',
    })
    expect(server.sockets).toHaveLength(0)
  })
})

describe('a reader that needs no more', () => {
  test('a cancel closes the connection', async () => {
    const server = await httpServer((_, response) => response.write('first'))
    const port = upstream()
    const { body } = await call(port, server)
    body.cancel()
    expect(await activeTime(closed(server.sockets[0]))).toBeLessThan(100)
    expect(await body.read()).toBeUndefined()
    await expect.poll(() => port.openSockets).toBe(0)
  })

  test('a drain keeps the connection if the body ends within a moment', async () => {
    const more = deferred()
    const server = await httpServer(async (_, response) => {
      response.write('data: [DONE]')
      await more.promise
      response.end()
    })
    const port = upstream()
    const { body } = await call(port, server)
    await body.read()
    body.drain()
    more.resolve()
    await whole(await call(port, server))
    // Two at a time find two idle connections, or have to open a third.
    await Promise.all([call(port, server), call(port, server)].map(async (it) => whole(await it)))
    expect(server.sockets).toHaveLength(2)
  })

  test('a drain closes a connection whose body does not end', async () => {
    const server = await httpServer((_, response) => response.write('data: [DONE]'))
    const port = upstream()
    const { body } = await call(port, server)
    await body.read()
    body.drain()
    expect(await timed(closed(server.sockets[0]))).toBeLessThan(1_000)
    await expect.poll(() => port.openSockets).toBe(0)
  })
})

describe('a connection that the upstream closes', () => {
  test('a request is resent once if the connection was idle and no byte of the response had arrived', async () => {
    const server = await scripted(['answer', 'reset', 'answer'])
    const port = upstream()
    await whole(await call(port, server))
    expect(await whole(await call(port, server))).toBe('ok')
    expect(server.requests).toHaveLength(3)
    expect(server.requests[2]).toBe(server.requests[1])
  })

  test('a resent request uses a new connection', async () => {
    const server = await scripted(['answer', 'answer', 'reset', 'answer'])
    const port = upstream()
    await Promise.all([call(port, server), call(port, server)].map(async (it) => whole(await it)))
    expect(await whole(await call(port, server))).toBe('ok')
    expect(server.sockets).toHaveLength(3)
  })

  test('a request is not resent twice', async () => {
    const server = await scripted(['answer', 'reset', 'reset'])
    const port = upstream()
    await whole(await call(port, server))
    expect(await failure(call(port, server))).toMatchObject({ kind: 'network' })
    expect(server.requests).toHaveLength(3)
  })

  test('a request on a new connection is not resent', async () => {
    const server = await scripted(['reset'])
    expect(await failure(call(upstream(), server))).toMatchObject({ kind: 'network' })
    expect(server.requests).toHaveLength(1)
  })

  test('a request whose response had begun is not resent', async () => {
    const server = await scripted(['answer', 'begin'])
    const port = upstream()
    await whole(await call(port, server))
    expect(await failure(call(port, server))).toMatchObject({ kind: 'network' })
    expect(server.requests).toHaveLength(2)
  })

  test('a request is not resent after a second, since the upstream may have processed it', async () => {
    const server = await scripted(['answer', 'work', 'answer'])
    const port = upstream()
    await whole(await call(port, server))
    const outcome = await failure(call(port, server))
    expect(outcome).toMatchObject({ kind: 'network', phase: 'waiting' })
    expect(server.requests).toHaveLength(2)
  })

  test('a request is resent only if the caller allows it', async () => {
    const server = await scripted(['answer', 'reset', 'answer', 'reset', 'answer'])
    const port = upstream()
    await whole(await call(port, server))
    const asked: boolean[] = []
    const mayResend = (answer: boolean) => () => {
      asked.push(answer)
      return answer
    }
    await whole(await call(port, { ...server, mayResend: mayResend(true) }))
    const outcome = await failure(call(port, { ...server, mayResend: mayResend(false) }))
    expect(outcome).toMatchObject({ kind: 'network', phase: 'waiting' })
    expect(asked).toEqual([true, false])
    expect(server.requests).toHaveLength(4)
  })

  test('a connection closed while idle is not reused', async () => {
    const server = await scripted(['answer', 'answer'])
    const port = upstream()
    await whole(await call(port, server))
    server.sockets[0]?.destroy()
    await expect.poll(() => port.openSockets).toBe(0)
    expect(await whole(await call(port, server))).toBe('ok')
    expect(server.requests).toHaveLength(2)
  })
})

describe('a response that is not HTTP', () => {
  const head = 'HTTP/1.1 200 OK\r\n'
  const parser = { kind: 'network', reason: 'UND_ERR_HTTP_PARSER' }
  const socket = { kind: 'network', reason: 'UND_ERR_SOCKET' }
  test.each([
    ['markup', '<html>no status line</html>', { ...parser, phase: 'waiting' }],
    [
      'a bad chunk',
      `${head}transfer-encoding: chunked\r\n\r\nzz\r\n`,
      { ...parser, phase: 'answering' },
    ],
    [
      'huge headers',
      `${head}x: ${'y'.repeat(40_000)}\r\n\r\n`,
      { kind: 'network', reason: 'UND_ERR_HEADERS_OVERFLOW', phase: 'waiting' },
    ],
    [
      'an upgrade',
      'HTTP/1.1 101 Up\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
      { ...socket, phase: 'waiting' },
    ],
    [
      'an unasked 100 Continue',
      `HTTP/1.1 100 Continue\r\n\r\n${ok}`,
      { kind: 'network', reason: 'UNASKED_100_CONTINUE', phase: 'waiting' },
    ],
    ['a short body', `${head}content-length: 9\r\n\r\nshort`, { ...socket, phase: 'answering' }],
    ['a long body', `${head}content-length: 2\r\n\r\nok, and more`, 'no failure'],
  ])('%s fails only its request', async (_, answer, outcome) => {
    const server = await tcpServer((connection) =>
      connection.once('data', () => connection.end(answer)),
    )
    const port = upstream()
    expect(await failure(call(port, server).then(whole))).toEqual(outcome)
    await expect.poll(() => port.openSockets).toBe(0)
  })
})

test('closing the port closes idle and running connections', async () => {
  const server = await httpServer((request, response) => {
    if (request.url === '/quick') response.end('ok')
  })
  const port = upstream()
  await whole(await call(port, { url: `${server.url}/quick` }))
  const pending = [call(port, server), call(port, server)].map(failure)
  await expect.poll(() => port.openSockets).toBe(2)
  port.close()
  await Promise.all(server.sockets.map(closed))
  expect(await Promise.all(pending)).toMatchObject([{ kind: 'network' }, { kind: 'network' }])
  await expect.poll(() => port.openSockets).toBe(0)
})

function abortable(request: Call) {
  const abort = new AbortController()
  const port = upstream()
  const pending = call(port, { ...request, signal: abort.signal })
  return { port, pending, outcome: failure(pending), abort: () => abort.abort() }
}

type Turn = 'answer' | 'begin' | 'work' | 'reset'

/** A server whose `turns` say what becomes of each request it gets, over all connections. */
async function scripted(turns: readonly Turn[]) {
  const requests: string[] = []
  const server = await tcpServer((socket) => {
    socket.on('data', (bytes) => {
      const turn = turns[requests.length]
      requests.push(bytes.toString())
      if (turn === 'answer') socket.write(ok)
      else if (turn === 'begin') socket.end('HTTP/1.1 200 OK\r\n')
      else if (turn === 'work') setTimeout(() => socket.destroy(), 1_050)
      else socket.resetAndDestroy()
    })
  })
  return { ...server, requests }
}
