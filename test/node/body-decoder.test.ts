import * as zlib from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { completion, hello, role, stop, wholeStream } from '../support/answers.ts'
import { chat, gatewayOver } from './support/gateway-over.ts'
import { closed, deferred, httpServer, tcpServer } from './support/servers.ts'
import { call, failure, text, upstream, whole } from './support/upstream.ts'

const said = JSON.stringify(completion('grüße 🦊'.repeat(500)))

const codings: readonly (readonly [string, (text: string) => Buffer])[] = [
  ['gzip', (plain) => zlib.gzipSync(plain)],
  ['x-gzip', (plain) => zlib.gzipSync(plain)],
  ['deflate', (plain) => zlib.deflateSync(plain)],
  ['Deflate', (plain) => zlib.deflateRawSync(plain)],
  ['br', (plain) => zlib.brotliCompressSync(plain)],
]

/** For tests that decode 64 MB or more, which takes minutes on a machine that is short of time or memory. */
const large = { timeout: 600_000 }

/** An upstream that answers everything with this body. */
function answering(body: Uint8Array, headers: Readonly<Record<string, string>>, status = 200) {
  return httpServer((_, response) => response.writeHead(status, headers).end(body))
}

describe('an encoded body', () => {
  test.each(codings)('an encoded body is decoded: %s', async (coding, encode) => {
    const body = encode(said)
    const { url } = await answering(body, {
      'content-encoding': coding,
      'content-length': String(body.length),
      'x-other': 'kept',
    })
    const response = await call(upstream(), { url })
    expect(await whole(response)).toBe(said)
    expect(response.header('content-encoding')).toBeUndefined()
    expect(response.header('content-length')).toBeUndefined()
    expect(response.header('x-other')).toBe('kept')
  })

  test.skipIf(!('createZstdDecompress' in zlib))('an encoded body is decoded: zstd', async () => {
    const encode = Reflect.get(zlib, 'zstdCompressSync') as (text: string) => Buffer
    const { url } = await answering(encode(said), { 'content-encoding': 'zstd' })
    expect(await whole(await call(upstream(), { url }))).toBe(said)
  })

  test.each(['', 'identity'])(
    'a body with content-encoding "%s" is read unchanged',
    async (coding) => {
      const { url } = await answering(Buffer.from(said), { 'content-encoding': coding })
      expect(await whole(await call(upstream(), { url }))).toBe(said)
    },
  )

  test('an empty encoded body is read as empty', async () => {
    const { url } = await answering(Buffer.alloc(0), { 'content-encoding': 'gzip' })
    expect(await whole(await call(upstream(), { url }))).toBe('')
  })

  test('an encoded body split at any byte decodes the same', async () => {
    const body = zlib.gzipSync(said)
    const { url } = await tcpServer((socket) =>
      socket.once('data', async () => {
        socket.setNoDelay(true)
        socket.write(
          `HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${body.length}\r\n\r\n`,
        )
        for (const byte of body) socket.write(Buffer.of(byte))
      }),
    )
    expect(await whole(await call(upstream(), { url }))).toBe(said)
  })

  test('an encoded body leaves its connection reusable', async () => {
    const server = await answering(zlib.gzipSync(said), { 'content-encoding': 'gzip' })
    const port = upstream()
    for (let round = 0; round < 3; round++) {
      expect(await whole(await call(port, server))).toBe(said)
    }
    expect(server.sockets).toHaveLength(1)
  })

  test('an unknown content coding fails with its name', async () => {
    const server = await answering(Buffer.from(said), { 'content-encoding': 'gzip, compress' })
    const port = upstream()
    const response = await call(port, server)
    expect(response.header('content-encoding')).toBe('gzip, compress')
    expect(await failure(response.body.read())).toEqual({
      kind: 'malformed',
      detail: 'unsupported content-encoding "gzip, compress"',
    })
    await expect.poll(() => port.openSockets).toBe(0)
  })

  test('bytes that do not decode fail as malformed', async () => {
    const server = await answering(Buffer.from(said), { 'content-encoding': 'gzip' })
    const outcome = await failure(whole(await call(upstream(), server)))
    expect(outcome).toEqual({
      kind: 'malformed',
      detail: 'the body is not valid gzip (Z_DATA_ERROR)',
    })
  })

  test('trailing garbage fails as malformed if the coding forbids it', async () => {
    const body = Buffer.concat([zlib.gzipSync(said), Buffer.from('garbage')])
    const server = await answering(body, { 'content-encoding': 'gzip' })
    const outcome = await failure(whole(await call(upstream(), server)))
    expect(outcome).toEqual({
      kind: 'malformed',
      detail: 'the body is not valid gzip (Z_DATA_ERROR)',
    })
  })

  test.each(codings)(
    'an encoded body that ends too early has broken off: %s',
    async (coding, encode) => {
      const body = encode(said)
      const { url } = await answering(body.subarray(0, body.length - 9), {
        'content-encoding': coding,
      })
      expect(await failure(whole(await call(upstream(), { url })))).toEqual({
        kind: 'network',
        reason: 'Z_BUF_ERROR',
        phase: 'answering',
      })
    },
  )

  test('an encoded body that breaks off returns the decoded part, then a network failure', async () => {
    const encoder = zlib.createGzip({ flush: zlib.constants.Z_SYNC_FLUSH })
    const server = await httpServer((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' })
      encoder.on('data', (bytes: Buffer) => {
        response.write(bytes, () => setTimeout(() => response.destroy(), 10))
      })
      encoder.write('part')
    })
    const { body } = await call(upstream(), server)
    expect(text(await body.read())).toBe('part')
    expect(await failure(body.read())).toMatchObject({ kind: 'network', phase: 'answering' })
  })
})

describe('a stream that arrives encoded', () => {
  test('an encoded stream is decoded piece by piece, as sent', async () => {
    const encoder = zlib.createGzip({ flush: zlib.constants.Z_SYNC_FLUSH })
    const server = await httpServer((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).flushHeaders()
      encoder.pipe(response)
    })
    const { body } = await call(upstream(), server)
    for (const piece of ['one', 'two', 'three']) {
      encoder.write(piece)
      expect(text(await body.read())).toBe(piece)
    }
    encoder.end()
    expect(await body.read()).toBeUndefined()
  })

  test('an aborted encoded stream ends at once', async () => {
    const encoder = zlib.createGzip({ flush: zlib.constants.Z_SYNC_FLUSH })
    const server = await httpServer((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' })
      encoder.pipe(response)
      encoder.write('first')
    })
    const abort = new AbortController()
    const port = upstream()
    const { body } = await call(port, { ...server, signal: abort.signal })
    await body.read()
    const read = failure(body.read())
    abort.abort()
    expect(await read).toEqual({ kind: 'network', reason: 'aborted' })
    await closed(server.sockets[0])
    await expect.poll(() => port.openSockets).toBe(0)
  })

  test('an encoded stream can be aborted while its end is being decoded', large, async () => {
    // Some 64 MB of zeros in 64 kB.
    const bomb = zlib.gzipSync(Buffer.alloc(64 * 1024 * 1024))
    const server = await answering(bomb, { 'content-encoding': 'gzip', connection: 'close' })
    const abort = new AbortController()
    const queueLimit = 128 * 1024 * 1024
    const { body } = await call(upstream(), { ...server, queueLimit, signal: abort.signal })
    await body.read()
    // Its last byte has arrived, which ends the connection; a thousand pieces are still to be decoded.
    await closed(server.sockets[0])
    abort.abort()
    expect(await failure(readAll(body))).toEqual({ kind: 'network', reason: 'aborted' })
  })

  test('an encoded stream over the queue limit ends as slow-client', async () => {
    const bomb = zlib.gzipSync(Buffer.alloc(4 * 1024 * 1024))
    const server = await httpServer((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).write(bomb)
    })
    const { body } = await call(upstream(), { ...server, queueLimit: 1024 * 1024 })
    await closed(server.sockets[0])
    expect(await failure(body.read())).toEqual({ kind: 'slow-client' })
  })
})

async function readAll(body: { read(): Promise<Uint8Array | undefined> }): Promise<void> {
  while (await body.read());
}

describe('through the gateway', () => {
  const config = (url: string) => `
    [resilience]
    retry_max_attempts = 1
    [[providers]]
    name = "p"
    kind = "openai"
    base_url = "${url}"
    models = [
      { id = "m" },
      { id = "e", capabilities = ["embed"] },
    ]
  `
  const errorIn = async (response: Response) => (await response.json()).error

  test('a compressed response and a compressed stream reach the client decoded', async () => {
    const server = await httpServer((request, response) => {
      let sent = ''
      request.on('data', (bytes: Buffer) => {
        sent += bytes.toString()
      })
      request.on('end', () => {
        const isStream = sent.includes('"stream":true')
        response.writeHead(200, {
          'content-encoding': 'gzip',
          'content-type': isStream ? 'text/event-stream' : 'application/json',
        })
        response.end(zlib.gzipSync(isStream ? wholeStream : said))
      })
    })
    const gateway = await gatewayOver(config(server.url))
    expect(await (await chat(gateway)).text()).toBe(said)
    expect(await (await chat(gateway, { stream: true })).text()).toBe(wholeStream)
  })

  test('a stream whose content is complete before its coding is counts as complete', async () => {
    const encoder = zlib.createGzip({ flush: zlib.constants.Z_SYNC_FLUSH })
    const server = await httpServer((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'text/event-stream' })
      encoder.on('data', (bytes: Buffer) => response.write(bytes))
      encoder.write(wholeStream)
    })
    const gateway = await gatewayOver(config(server.url))
    expect(await (await chat(gateway, { stream: true })).text()).toBe(wholeStream)
  })

  test('a stream that stops decoding ends with an error frame and releases its connection', async () => {
    const broken = deferred()
    const encoder = zlib.createGzip({ flush: zlib.constants.Z_SYNC_FLUSH })
    const server = await httpServer((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'text/event-stream' })
      encoder.on('data', (bytes: Buffer) => response.write(bytes))
      encoder.write(role + hello)
      void broken.promise.then(() => response.write(Buffer.from(stop)))
    })
    const gateway = await gatewayOver(config(server.url))
    const response = await chat(gateway, { stream: true })
    broken.resolve()
    expect(await response.text()).toMatch(/LM-3010.*the body is not valid gzip \(Z_DATA_ERROR\)/)
    await closed(server.sockets[0])
  })

  test('a compressed upstream error is quoted as text', async () => {
    const body = zlib.gzipSync(JSON.stringify({ error: { message: 'no such field' } }))
    const headers = { 'content-encoding': 'gzip', 'content-type': 'application/json' }
    const server = await answering(body, headers, 400)
    const error = await errorIn(await chat(await gatewayOver(config(server.url))))
    expect(error).toMatchObject({
      code: 'LM-3003',
      message: 'provider p refused the request with status 400: no such field',
    })
  })

  test('only the beginning of a long compressed error is decoded', large, async () => {
    const body = zlib.gzipSync(Buffer.alloc(64 * 1024 * 1024, 'x'))
    const server = await answering(body, { 'content-encoding': 'gzip' }, 400)
    const response = await chat(await gatewayOver(config(server.url)))
    expect(response.status).toBe(400)
    expect((await errorIn(response)).message.length).toBeLessThan(500)
  })

  test('a response in an unknown coding is LM-3002 with the name of the coding', async () => {
    const server = await answering(Buffer.from(said), { 'content-encoding': 'snappy' })
    const response = await chat(await gatewayOver(config(server.url)))
    expect(response.status).toBe(502)
    expect(await errorIn(response)).toMatchObject({
      code: 'LM-3002',
      message: 'provider p sent a malformed answer: unsupported content-encoding "snappy"',
    })
  })

  test('an error in an unknown coding keeps its status, and its bytes are not quoted', async () => {
    const server = await answering(Buffer.from('bytes'), { 'content-encoding': 'snappy' }, 400)
    const response = await chat(await gatewayOver(config(server.url)))
    expect(response.status).toBe(400)
    expect(await errorIn(response)).toMatchObject({
      code: 'LM-3003',
      message: 'provider p refused the request with status 400',
    })
  })

  test('a response over 64 MiB after decoding is LM-3002', large, async () => {
    const server = await answering(blanks(64 * 1024 * 1024 + 1), {
      'content-encoding': 'gzip',
      'content-type': 'application/json',
    })
    const response = await chat(await gatewayOver(config(server.url)))
    expect(await errorIn(response)).toMatchObject({
      code: 'LM-3002',
      message: 'provider p sent a malformed answer: the answer is too long',
    })
  })

  test('an embeddings response may have four times that size', large, async () => {
    const vectors = {
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding: [1, 2] }],
      usage: { prompt_tokens: 1, total_tokens: 1 },
    }
    const headers = { 'content-encoding': 'gzip', 'content-type': 'application/json' }
    const embed = async (body: Uint8Array) => {
      const server = await answering(body, headers)
      const gateway = await gatewayOver(config(server.url))
      const request = { method: 'POST', body: JSON.stringify({ model: 'e', input: 'a' }) }
      return gateway.fetch(new Request('http://gateway.test/v1/embeddings', request))
    }
    const [head = '', tail = ''] = JSON.stringify(vectors).split('1,2')
    const long = Buffer.concat([
      zlib.gzipSync(`${head}1,`),
      blanks(65 * 1024 * 1024),
      zlib.gzipSync(`2${tail}`),
    ])
    expect((await embed(long)).status).toBe(200)
    expect(await errorIn(await embed(blanks(256 * 1024 * 1024 + 1)))).toMatchObject({
      code: 'LM-3002',
      message: 'provider p sent a malformed answer: the answer is too long',
    })
  })
})

/** So many spaces, in a thousandth of the bytes. */
function blanks(count: number): Buffer {
  const step = 16 * 1024 * 1024
  const part = zlib.gzipSync(Buffer.alloc(step, ' '), { level: 1 })
  const parts = Array.from({ length: Math.floor(count / step) }, () => part)
  return Buffer.concat([...parts, zlib.gzipSync(Buffer.alloc(count % step, ' '))])
}
