import { Server } from 'node:http'
import { Response } from '@whatwg-node/fetch'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { parsed, rawAnswer, rawClient } from './support/raw-client.ts'
import { deferred } from './support/servers.ts'
import { clientGone, served, stream, stubGateway, text } from './support/stub-gateway.ts'

const get = 'GET / HTTP/1.1\r\nhost: a\r\n\r\n'
const post = (length: number) => `POST / HTTP/1.1\r\nhost: a\r\ncontent-length: ${length}\r\n\r\n`
const expecting = (length: number) =>
  `POST / HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: ${length}\r\n\r\n`
const internalError = { status: 500, error: 'internal error' }

describe('the address of a client', () => {
  test.each([
    ['127.0.0.1', '127.0.0.1'],
    ['::', '127.0.0.1'],
  ])('a gateway on %s gets the remote address of the connection', async (host, from) => {
    const clients: (string | undefined)[] = []
    const gateway = stubGateway((request, { client }) => {
      clients.push(client)
      return text(JSON.stringify([...request.headers].filter(([name]) => name !== 'host')))
    })
    const { port } = await served(gateway, { host })
    const answer = await fetch(`http://127.0.0.1:${port}/`, {
      headers: { 'x-forwarded-for': '192.0.2.7' },
    })
    expect(clients).toEqual([from])
    // It is no header, so that it cannot be sent on.
    expect(await answer.text()).not.toContain(from)
  })
})

describe('a response', () => {
  test('a response is sent unchanged', async () => {
    const gateway = stubGateway(async (request) =>
      text(`${request.method} ${request.url} ${await request.text()}`, {
        status: 201,
        headers: { 'x-own': 'value' },
      }),
    )
    const { address } = await served(gateway)
    const response = await fetch(`${address}/a%2Fb?c=d`, { method: 'PUT', body: '{"e":1}' })
    expect(response.status).toBe(201)
    expect(response.headers.get('x-own')).toBe('value')
    expect(await response.text()).toBe('PUT http://gateway/a%2Fb?c=d {"e":1}')
  })

  test('a response to HEAD has no body', async () => {
    const { port } = await served(stubGateway(() => text('body')))
    const answer = await rawAnswer(port, 'HEAD / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
    expect(parsed(answer)).toMatchObject({ status: 200, body: '' })
  })

  test('an exception of the gateway is a 500 without details', async () => {
    const gateway = stubGateway(() => {
      throw Object.assign(new Error('secret'), { code: 'ERR_CODE' })
    })
    const { address } = await served(gateway)
    const response = await fetch(address)
    const body = await response.text()
    expect({ status: response.status, error: JSON.parse(body).error.message }).toEqual(
      internalError,
    )
    expect(response.headers.get('x-frame-options')).toBe('DENY')
    expect(gateway.lines).toMatchObject([{ level: 'error', fields: { code: 'ERR_CODE' } }])
    expect(JSON.stringify([gateway.lines, body])).not.toContain('secret')
  })

  test.each(['a\r\nx-injected: b', 'naïve ☃'])(
    'a response with the illegal header %j is 500',
    async (value) => {
      const { address } = await served(
        stubGateway(() => text('body', { headers: { 'x-own': value } })),
      )
      const response = await fetch(address)
      const { error } = (await response.json()) as { error: { message: string } }
      expect({ status: response.status, error: error.message }).toEqual(internalError)
    },
  )

  test('a response whose body is not bytes is cut off', async () => {
    const gateway = stubGateway(() =>
      stream({ pull: (controller) => controller.enqueue(5 as unknown as Uint8Array) }),
    )
    const { port } = await served(gateway)
    expect(await rawAnswer(port, get)).not.toContain('\r\n0\r\n')
  })

  test('a response whose body fails is cut off, so that it does not look complete', async () => {
    const gateway = stubGateway(() =>
      stream({
        pull(controller) {
          controller.enqueue(new TextEncoder().encode('part'))
          controller.error(new Error('failed'))
        },
      }),
    )
    const { port } = await served(gateway)
    expect(await rawAnswer(port, get)).not.toContain('\r\n0\r\n')
  })
})

test('the host keeps the connections of silent clients alive', async () => {
  const keeping = vi.spyOn(Server.prototype, 'listen')
  onTestFinished(() => keeping.mockRestore())
  await served(stubGateway(() => text('answer')))
  // Milliseconds in Node's option, seconds in the server.
  expect(keeping.mock.contexts[0]).toMatchObject({ keepAlive: true, keepAliveInitialDelay: 60 })
})

describe('malformed requests get errors in the format of the gateway', () => {
  const noRequest = (limits?: typeof quick) =>
    served(
      stubGateway(() => text('never')),
      limits && { limits },
    )
  /** Too short for a request that arrives on a busy machine: only for those that never become complete. */
  const quick = { headersTimeout: 50, requestTimeout: 50, connectionsCheckingInterval: 10 }

  test.each([
    ['no HTTP', 'NOT HTTP AT ALL\r\n\r\n', 400],
    ['bad framing', 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: x\r\n\r\n', 400],
    [
      'two lengths',
      'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n',
      400,
    ],
    ['huge headers', `GET / HTTP/1.1\r\nhost: a\r\nx: ${'y'.repeat(70_000)}\r\n\r\n`, 431],
    ['slow headers', 'GET / HTTP/1.1\r\nhost: a\r\nx: ', 408, quick],
    ['CONNECT', 'CONNECT elsewhere:443 HTTP/1.1\r\nhost: elsewhere:443\r\n\r\n', 405],
    ['an unknown expectation', 'GET / HTTP/1.1\r\nhost: a\r\nexpect: cake\r\n\r\n', 417],
  ] as const)('%s', async (_, request, status, limits?: typeof quick) => {
    const { port } = await noRequest(limits)
    const answer = parsed(await rawAnswer(port, request))
    expect(answer.status).toBe(status)
    expect(answer.headers).toMatchObject({
      'x-request-id': expect.any(String),
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'content-security-policy': "default-src 'none'",
      connection: 'close',
    })
    expect(JSON.parse(answer.body)).toMatchObject({ error: { type: 'invalid_request' } })
  })

  test('a slow body gets an error', async () => {
    const gateway = stubGateway(async (request) => text(await request.text()))
    const { port } = await served(gateway, { limits: quick })
    expect(parsed(await rawAnswer(port, `${post(10)}part`)).status).toBe(408)
  })

  test('a malformed request gets only one response', async () => {
    const { port } = await noRequest()
    const client = rawClient(port)
    for (let piece = 0; piece < 3; piece++) {
      client.send('NOT HTTP AT ALL\r\n\r\n')
      await new Promise(setImmediate)
    }
    const answer = await client.whole
    expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1)
    expect(parsed(answer).body).toMatch(/\}\}$/)
  })

  test('an error is not sent into a response that has begun', async () => {
    const gateway = stubGateway(() =>
      stream({ start: (controller) => controller.enqueue(new TextEncoder().encode('first')) }),
    )
    const { port } = await served(gateway)
    const client = rawClient(port)
    client.send('POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n')
    await client.until('first')
    client.send('no chunk\r\n')
    expect(await client.whole).not.toContain('HTTP/1.1 400')
  })

  test('an error does not replace a response that is in progress', async () => {
    const [asked, answered] = [deferred(), deferred()]
    const gateway = stubGateway(async () => {
      asked.resolve()
      await answered.promise
      return text('answer')
    })
    const { port } = await served(gateway)
    const client = rawClient(port)
    client.send(get)
    await asked.promise
    client.send('NOT HTTP AT ALL\r\n\r\n')
    await new Promise((resolve) => setTimeout(resolve, 20))
    answered.resolve()
    const whole = await client.whole
    expect(whole.match(/HTTP\/1\.1/g)).toHaveLength(1)
    expect(parsed(whole)).toMatchObject({ status: 200, body: 'answer' })
  })
})

describe('a client that sends Expect: 100-continue', () => {
  test('100 Continue is sent when the body is read', async () => {
    const { port } = await served(stubGateway(async (request) => text(await request.text())))
    const client = rawClient(port)
    client.send(expecting(4))
    await client.until('100 Continue')
    client.send('body')
    expect(parsed(await client.until('body'))).toMatchObject({ status: 200, body: 'body' })
  })

  test('a client that does not wait for 100 Continue keeps its connection', async () => {
    const gateway = stubGateway(async (request) => {
      await new Promise(setImmediate)
      return text(`read ${(await request.arrayBuffer()).byteLength}`)
    })
    const { port } = await served(gateway)
    const client = rawClient(port)
    client.send(`${expecting(2)}{}`)
    expect(await client.until('read 2')).not.toContain('connection: close')
    client.send(post(0))
    await client.until('read 0')
  })

  test('100 Continue is not sent when the response needs no body', async () => {
    const { port } = await served(stubGateway(() => text('no key', { status: 401 })))
    const answer = await rawAnswer(port, expecting(4))
    expect(answer).not.toContain('100 Continue')
    expect(parsed(answer)).toMatchObject({ status: 401, headers: { connection: 'close' } })
  })

  test.each([
    ['whole', async (request: Request) => text(await request.text())],
    ['piece by piece', async (request: Request) => text(await piecesOf(request))],
  ])('100 Continue is sent once when the body is read %s', async (_, answer) => {
    const { port } = await served(stubGateway(answer))
    const client = rawClient(port)
    client.send(expecting(4))
    await client.until('100 Continue')
    client.send('body')
    const all = await client.until('\r\n\r\nbody')
    expect(all.split('100 Continue')).toHaveLength(2)
  })

  test('a body over the limit is rejected before it is sent', async () => {
    const gateway = stubGateway(() => text('never'), { settings: { bodyLimit: 1024 } })
    const { port } = await served(gateway)
    const answer = await rawAnswer(port, expecting(1025))
    expect(answer).not.toContain('100 Continue')
    expect(parsed(answer)).toMatchObject({ status: 413, headers: { connection: 'close' } })
    expect(JSON.parse(parsed(answer).body)).toMatchObject({ error: { code: 'LM-1002' } })
    expect(gateway.calls).toEqual([])
  })
})

describe('a response before the body has been read', () => {
  const body = 'x'.repeat(1024 * 1024)

  test.each([
    ['unread', async () => {}],
    ['half read', (request: Request) => request.body?.getReader().read()],
  ])(
    'an early response reaches the client, and the connection stays usable (%s)',
    async (_, read) => {
      const gateway = stubGateway(async (request) => {
        if (request.method === 'GET') return text('next')
        await read(request)
        return text('too large', { status: 413 })
      })
      const { port } = await served(gateway)
      const client = rawClient(port)
      client.send(post(body.length) + body)
      const early = parsed(await client.until('too large'))
      expect(early.status).toBe(413)
      expect(early.headers['connection']).not.toBe('close')
      client.send(get)
      expect(parsed(await client.until('next')).status).toBe(200)
    },
  )

  test('the rest of the body may follow an early response, and the connection stays usable', async () => {
    const { port } = await served(
      stubGateway(() => text('early')),
      { limits: { discardTime: 500 } },
    )
    const client = rawClient(port)
    client.send(`${post(8)}half`)
    await client.until('early')
    client.send('half')
    await new Promise((resolve) => setTimeout(resolve, 700))
    client.send(get)
    expect(await client.until(/early[^]*early/)).toContain('200 OK')
  })

  test('an early response stops a reader of the body', async () => {
    const read = deferred<number>()
    const gateway = stubGateway((request) => {
      request.arrayBuffer().then(
        ({ byteLength }) => read.resolve(byteLength),
        () => read.resolve(0),
      )
      return text('early')
    })
    const { port } = await served(gateway)
    const client = rawClient(port)
    client.send(post(body.length))
    await client.until('early')
    client.send(body)
    expect(await read.promise).toBe(0)
  })

  test('the body of a rejected request is discarded too', async () => {
    const { port } = await served(
      stubGateway(() => text('never')),
      { limits: { discardTime: 20 } },
    )
    const head = 'POST /\\ HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\n'
    expect(parsed(await rawAnswer(port, head)).status).toBe(400)
  })

  test.each([
    ['too much', { discardSize: body.length / 2, discardTime: 10_000 }, body],
    ['for too long', { discardTime: 20 }, 'only a part'],
  ])('the connection ends when the client keeps sending %s', async (_, limits, sent) => {
    const { port } = await served(
      stubGateway(() => text('too large', { status: 413 })),
      { limits },
    )
    expect(parsed(await rawAnswer(port, post(body.length) + sent)).status).toBe(413)
  })

  test('a client that has sent everything does not wait', async () => {
    const gateway = stubGateway(() => text('early'))
    const { port } = await served(gateway, { limits: { discardTime: 10_000 } })
    const client = rawClient(port)
    client.send(`${post(4)}body`)
    await client.until('early')
    client.send(get)
    await client.until(/early[^]*early/)
    expect(gateway.calls).toHaveLength(2)
  })
})

describe('pipelined requests', () => {
  test('pipelined requests are served one at a time, in order', async () => {
    let running = 0
    const gateway = stubGateway(async (request) => {
      running++
      expect(running).toBe(1)
      await new Promise(setImmediate)
      running--
      return text(new URL(request.url).pathname)
    })
    const { port } = await served(gateway)
    const client = rawClient(port)
    const paths = Array.from({ length: 33 }, (_, index) => `/at${index}.`)
    client.send(paths.map((path) => `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`).join(''))
    const answers = await client.until('/at32.')
    expect(answers.match(/\/at\d+\./g)).toEqual(paths)
  })

  test('more than 32 waiting requests end the connection', async () => {
    const gateway = stubGateway(() => new Promise<Response>(() => {}))
    const { port } = await served(gateway)
    const client = rawClient(port)
    client.send(get.repeat(34))
    expect(await client.whole).toBe('')
    expect(gateway.calls).toHaveLength(1)
  })

  test('pipelined requests are dropped when their client leaves', async () => {
    const asked = deferred()
    const left = deferred()
    const gateway = stubGateway(async (_, context) => {
      asked.resolve()
      await clientGone(context)
      left.resolve()
      return text('too late')
    })
    const { port, serving } = await served(gateway)
    const client = rawClient(port)
    client.send(get.repeat(3))
    await asked.promise
    client.socket.destroy()
    await left.promise
    await expect.poll(() => serving.running).toBe(0)
    expect(gateway.calls).toHaveLength(1)
  })
})

describe('bytes behind a request that cannot be read as the next one', () => {
  const first = 'POST /first HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n'
  const second = 'POST /second HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n'
  const chunked = 'POST /second HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n'
  const quick = { headersTimeout: 20, requestTimeout: 20, connectionsCheckingInterval: 5 }

  /** Answers each request with its path and body, when the test says so. */
  function echoing() {
    const release = deferred()
    const gateway = stubGateway(async (request) => {
      const body = await request.text()
      await release.promise
      return text(`${new URL(request.url).pathname} got ${body}.`)
    })
    return { gateway, release: () => release.resolve() }
  }

  test.each([
    ['a request behind connection: close', `${first}connection: close\r\n\r\nbody${second}`, 1],
    ['garbage behind a body', `${first}\r\nbody\x01\x02\r\n\r\n`, 1],
    ['a body longer than its length', `${first}\r\nbody}`, 1],
    ['headers that are too large', `${first}\r\nbodyGET / HTTP/1.1\r\nx: ${'y'.repeat(70_000)}`, 1],
    ['the beginning of a request', `${first}\r\nbodyGET / HTTP/1.1\r\nhost:`, 1],
    ['the beginning of a body', `${first}\r\nbody${first}\r\nbo`, 1],
    ['a malformed body', `${first}\r\nbody${chunked}no chunk\r\n`, 1],
    ['garbage behind two requests', `${first}\r\nbody${second}\x01\x02\r\n\r\n`, 2],
  ])(
    '%s: every complete request gets its response, and the connection closes',
    async (_, bytes, count) => {
      const { gateway, release } = echoing()
      const { port } = await served(gateway, { limits: quick })
      const client = rawClient(port)
      client.send(bytes)
      await expect.poll(() => gateway.calls).toHaveLength(1)
      // Longer than the limits of the rest, which is late then.
      await new Promise((resolve) => setTimeout(resolve, 50))
      client.send('more garbage\r\n\r\n')
      release()
      const answer = await client.whole
      expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(Array(count).fill('HTTP/1.1 200'))
      expect(answer).toContain('/first got body.')
      expect(parsed(answer).headers['connection']).toBe('close')
      expect(gateway.calls).toEqual(['POST /first', 'POST /second'].slice(0, count))
    },
  )

  test('a stream that has begun is sent to its end', async () => {
    const last = deferred()
    const gateway = stubGateway(() =>
      stream({
        async pull(controller) {
          controller.enqueue(new TextEncoder().encode('begun'))
          await last.promise
          controller.enqueue(new TextEncoder().encode('end'))
          controller.close()
        },
      }),
    )
    const { port } = await served(gateway)
    const client = rawClient(port)
    client.send(get)
    await client.until('begun')
    client.send('\x01\x02\r\n\r\n')
    await new Promise((resolve) => setTimeout(resolve, 20))
    last.resolve()
    expect(await client.whole).toMatch(/end\r\n0\r\n\r\n$/)
  })

  test('a client that leaves after them cancels its request', async () => {
    for (const leave of ['destroy', 'end'] as const) {
      const gone = deferred()
      const gateway = stubGateway(async (_, context) => {
        await clientGone(context)
        gone.resolve()
        return text('too late')
      })
      const { port } = await served(gateway)
      const client = rawClient(port)
      client.send(`${get}\x01\x02\r\n\r\n`)
      await expect.poll(() => gateway.calls).toHaveLength(1)
      client.socket[leave]()
      await gone.promise
    }
  })

  test('a connection closes soon after a request that offers another protocol', async () => {
    const gateway = stubGateway(() => text('answer'))
    const limits = { upgradeKeepAliveTimeout: 30 }
    const { port } = await served(gateway, { limits })
    const client = rawClient(port)
    const offer = 'GET / HTTP/1.1\r\nhost: a\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n'
    // Java's client offers HTTP/2 with each request.
    for (const answers of [/answer/, /(answer[^]*){2}/]) {
      client.send(offer)
      await client.until(answers)
    }
    client.send(offer + get)
    const answer = await client.whole
    expect(answer.match(/answer/g)).toHaveLength(3)
    expect(answer).toMatch(/\r\nkeep-alive: timeout=0\r\n/i)
  })
})

describe('a response that the client does not read', () => {
  test('a stalled response ends its connection after a while', async () => {
    const gateway = stubGateway(() => text('x'.repeat(64 * 1024 * 1024)))
    const { port, serving } = await served(gateway, { limits: { stallTimeout: 50 } })
    const client = rawClient(port)
    client.socket.pause()
    client.send(get)
    await expect.poll(() => gateway.calls).toHaveLength(1)
    await expect.poll(() => serving.running).toBe(0)
  })

  test('a silent stream is not cut off', async () => {
    const gateway = stubGateway(() =>
      stream({
        async pull(controller) {
          controller.enqueue(new TextEncoder().encode('first'))
          await new Promise((resolve) => setTimeout(resolve, 100))
          controller.enqueue(new TextEncoder().encode(' last'))
          controller.close()
        },
      }),
    )
    const { address } = await served(gateway, { limits: { stallTimeout: 20 } })
    expect(await (await fetch(address)).text()).toBe('first last')
  })

  test('a response in progress is not cut off', async () => {
    const gateway = stubGateway(async () => {
      await new Promise((resolve) => setTimeout(resolve, 100))
      return text('answer')
    })
    const { address } = await served(gateway, { limits: { stallTimeout: 20 } })
    expect(await (await fetch(address)).text()).toBe('answer')
  })
})

test('an error of the listening socket is logged', async () => {
  const gateway = stubGateway(() => text('answer'))
  const emit = vi.spyOn(Server.prototype, 'listen')
  onTestFinished(() => emit.mockRestore())
  const { address } = await served(gateway)
  const server = emit.mock.contexts[0] as Server
  server.emit('error', Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' }))
  expect(gateway.lines).toMatchObject([{ level: 'warn', fields: { code: 'EMFILE' } }])
  expect((await fetch(address)).status).toBe(200)
})

async function piecesOf({ body }: Request): Promise<string> {
  let all = ''
  const decoder = new TextDecoder()
  const reader = body?.getReader()
  for (let piece = await reader?.read(); piece?.value; piece = await reader?.read()) {
    all += decoder.decode(piece.value)
  }
  return all
}
