import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import type { Egress } from '../../src/index.ts'
import { testProxy } from './support/proxy.ts'
import { closed, deferred, httpServer, tcpServer, timed } from './support/servers.ts'
import { authority, httpsServer } from './support/tls.ts'
import { call, failure, text, upstream, whole } from './support/upstream.ts'

const trusted: Egress = { ca: authority }

const proxies = ({ url }: { readonly url: string }) => ({ HTTPS_PROXY: url, HTTP_PROXY: url })

describe('a call through a proxy', () => {
  test('a call to an https URL uses a tunnel, and the next call reuses it', async () => {
    const proxy = await testProxy()
    const seen: unknown[] = []
    const server = await httpsServer((request, response) => {
      seen.push([request.method, request.url, request.headers.host, request.headers['x-key']])
      expect(request.headers['proxy-authorization']).toBeUndefined()
      response.end('ok')
    })
    const port = upstream(proxies(proxy))
    const url = `https://vendor.test:${server.port}/v1?a=b`
    for (let round = 0; round < 3; round++) {
      const headers = { 'x-key': 'value' }
      expect(await whole(await call(port, { url, headers, egress: trusted }))).toBe('ok')
    }
    expect(proxy.asked).toEqual([`CONNECT vendor.test:${server.port}`])
    const same = ['POST', '/v1?a=b', `vendor.test:${server.port}`, 'value']
    expect(seen).toEqual([same, same, same])
  })

  test('a call to an http URL sends the absolute URL, on one connection', async () => {
    const proxy = await testProxy()
    const server = await httpServer((request, response) =>
      response.end(`${request.url} ${request.headers.host}`),
    )
    const port = upstream(proxies(proxy))
    const url = `http://vendor.test:${server.port}/v1?a=b`
    for (let round = 0; round < 2; round++) {
      expect(await whole(await call(port, { url }))).toBe(`/v1?a=b vendor.test:${server.port}`)
    }
    expect(proxy.asked).toEqual([`POST ${url}`, `POST ${url}`])
    expect(proxy.sockets).toHaveLength(1)
  })

  test('the credential of a proxy is sent only to the proxy', async () => {
    const proxy = await testProxy()
    const listener = (request: { headers: object }, response: { end(text: string): void }) =>
      response.end(JSON.stringify(Object.keys(request.headers)))
    const [secure, plain] = [await httpsServer(listener), await httpServer(listener)]
    const port = upstream(proxies({ url: `http://us%40er:se%3Acret@127.0.0.1:${proxy.port}` }))
    const answers = [
      await whole(await call(port, { url: `https://vendor.test:${secure.port}`, egress: trusted })),
      await whole(await call(port, { url: `http://vendor.test:${plain.port}` })),
    ]
    const basic = `Basic ${Buffer.from('us@er:se:cret').toString('base64')}`
    expect(proxy.credentials).toEqual([basic, basic])
    for (const names of answers) expect(names).not.toContain('proxy-authorization')
  })

  test('a proxy may be reached over TLS', async () => {
    const { asked, url } = await testProxy({ secure: true })
    const server = await httpsServer((_, response) => response.end('ok'))
    const port = upstream()
    const address = `https://vendor.test:${server.port}`
    const egress = { ca: authority, proxy: url }
    expect(await whole(await call(port, { url: address, egress }))).toBe('ok')
    expect(asked).toEqual([`CONNECT vendor.test:${server.port}`])
    port.close()
    await expect.poll(() => port.openSockets).toBe(0)
  })

  test('a stream through a proxy arrives piece by piece', async () => {
    const proxy = await testProxy()
    const turns = [deferred(), deferred()]
    const server = await httpsServer(async (_, response) => {
      response.write('first')
      await turns[0]?.promise
      response.write('second')
      await turns[1]?.promise
      response.end()
    })
    const url = `https://vendor.test:${server.port}`
    const { body } = await call(upstream(proxies(proxy)), { url, egress: trusted })
    expect(text(await body.read())).toBe('first')
    turns[0]?.resolve()
    expect(text(await body.read())).toBe('second')
    turns[1]?.resolve()
    expect(await body.read()).toBeUndefined()
  })

  test('a call is resent when its idle tunnel turns out to be closed', async () => {
    const proxy = await testProxy()
    let requests = 0
    const server = await httpsServer((request, response) => {
      requests++
      if (requests === 2) request.socket.destroy()
      else response.end('ok')
    })
    const port = upstream(proxies(proxy))
    const url = `https://vendor.test:${server.port}`
    for (let round = 0; round < 2; round++) {
      expect(await whole(await call(port, { url, egress: trusted }))).toBe('ok')
    }
    expect(requests).toBe(3)
    expect(proxy.asked).toHaveLength(2)
  })
})

describe('choosing the proxy', () => {
  test('loopback is reached without a proxy, even if a provider sets one', async () => {
    const proxy = await testProxy()
    const server = await httpServer((_, response) => response.end('ok'))
    const port = upstream(proxies(proxy))
    for (const host of ['127.0.0.1', 'localhost']) {
      const url = `http://${host}:${server.port}`
      expect(await whole(await call(port, { url }))).toBe('ok')
      expect(await whole(await call(port, { url, egress: { proxy: proxy.url } }))).toBe('ok')
    }
    expect(proxy.asked).toEqual([])
  })

  test('the proxy of a provider overrides the environment, including NO_PROXY', async () => {
    const [common, own] = [await testProxy(), await testProxy()]
    const server = await httpServer((_, response) => response.end('ok'))
    const port = upstream({ ...proxies(common), NO_PROXY: '*' })
    const url = `http://vendor.test:${server.port}`
    const egress = { proxy: own.url }
    expect(await whole(await call(port, { url, egress }))).toBe('ok')
    expect(own.asked).toHaveLength(1)
    expect(common.asked).toEqual([])
  })

  test('connections are shared only between calls with the same egress settings', async () => {
    const [common, own] = [await testProxy(), await testProxy()]
    const server = await httpServer((_, response) => response.end('ok'))
    const port = upstream(proxies(common))
    const url = `http://vendor.test:${server.port}`
    const egress = { proxy: own.url }
    for (let round = 0; round < 2; round++) {
      await whole(await call(port, { url }))
      await whole(await call(port, { url, egress }))
    }
    expect([common.sockets.length, own.sockets.length]).toEqual([1, 1])
  })
})

describe('a proxy that fails', () => {
  const secret = 'proxy-secret-canary'

  test.each([407, 403, 502])(
    'status %i to a tunnel request names the proxy, and hides its secret',
    async (status) => {
      const proxy = await testProxy({ refusal: status })
      const url = `http://user:${secret}@127.0.0.1:${proxy.port}`
      const port = upstream(proxies({ url }))
      const outcome = await failure(call(port, { url: 'https://vendor.test' }))
      expect(outcome).toEqual({
        kind: 'network',
        reason: `PROXY_${status}`,
        phase: 'connecting',
        proxy: `127.0.0.1:${proxy.port}`,
      })
      await expect.poll(() => port.openSockets).toBe(0)
    },
  )

  test('status 407 to an absolute URL names the proxy; other statuses may be the upstream’s', async () => {
    const [refusing, failing] = [
      await testProxy({ refusal: 407 }),
      await testProxy({ refusal: 502 }),
    ]
    const url = 'http://vendor.test/v1'
    expect(await failure(call(upstream(proxies(refusing)), { url }))).toEqual({
      kind: 'network',
      reason: 'PROXY_407',
      phase: 'connecting',
      proxy: `127.0.0.1:${refusing.port}`,
    })
    expect((await call(upstream(proxies(failing)), { url })).status).toBe(502)
  })

  test.each(['http', 'https'])('an unreachable %s proxy is named', async (scheme) => {
    const port = upstream(proxies({ url: `http://user:${secret}@127.0.0.1:1` }))
    expect(await failure(call(port, { url: `${scheme}://vendor.test` }))).toEqual({
      kind: 'network',
      reason: 'ECONNREFUSED',
      phase: 'connecting',
      proxy: '127.0.0.1:1',
    })
  })

  test.each([
    ['an answer that is no HTTP', 'hello\r\n\r\n', 'PROXY_NOT_HTTP'],
    ['an endless head', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(20_000)}`, 'PROXY_NOT_HTTP'],
    ['bytes behind its answer', 'HTTP/1.1 200 OK\r\n\r\nhello', 'PROXY_NOT_HTTP'],
    ['a closed connection', '', 'ECONNRESET'],
  ])('a proxy that fails by %s is named', async (_, answer, reason) => {
    const proxy = await tcpServer((socket) => socket.once('data', () => socket.end(answer)))
    const port = upstream(proxies(proxy))
    expect(await failure(call(port, { url: 'https://vendor.test' }))).toEqual({
      kind: 'network',
      reason,
      phase: 'connecting',
      proxy: `127.0.0.1:${proxy.port}`,
    })
    await expect.poll(() => port.openSockets).toBe(0)
  })

  test('a bad certificate of the upstream behind a proxy is reported as such', async () => {
    const proxy = await testProxy()
    const server = await httpsServer((_, response) => response.end())
    const port = upstream(proxies(proxy))
    const url = `https://vendor.test:${server.port}`
    expect(await failure(call(port, { url }))).toEqual({
      kind: 'network',
      reason: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      phase: 'connecting',
    })
  })
})

describe('the connect timeout covers all steps', () => {
  test.each([
    ['a proxy that does not answer', () => tcpServer(() => {})],
    [
      'an upstream that does not speak TLS',
      async () => {
        const silent = await tcpServer(() => {})
        return tcpServer((socket) => {
          const onward = connect(silent.port, '127.0.0.1')
          socket.once('data', () => {
            socket.write('HTTP/1.1 200 OK\r\n\r\n')
            socket.pipe(onward)
          })
          socket.on('close', () => onward.destroy())
        })
      },
    ],
  ])('a call to %s ends at the connect timeout', async (_, start) => {
    const proxy = await start()
    const port = upstream(proxies(proxy))
    const outcome = failure(call(port, { url: 'https://vendor.test', connectTimeout: 150 }))
    const time = await timed(outcome)
    expect(await outcome).toEqual({ kind: 'timeout', limit: 'connect' })
    expect(time).toBeGreaterThan(145)
    expect(time).toBeLessThan(1_000)
    await closed(proxy.sockets[0])
    await expect.poll(() => port.openSockets).toBe(0)
  })
})

describe('an abort closes the connections to the upstream and the proxy', () => {
  test('an abort during the tunnel request closes the connection', async () => {
    const asked = deferred()
    const proxy = await tcpServer((socket) => socket.once('data', () => asked.resolve()))
    const abort = new AbortController()
    const port = upstream(proxies(proxy))
    const outcome = failure(call(port, { url: 'https://vendor.test', signal: abort.signal }))
    await asked.promise
    abort.abort()
    expect(await outcome).toEqual({ kind: 'network', reason: 'aborted' })
    await closed(proxy.sockets[0])
    await expect.poll(() => port.openSockets).toBe(0)
  })

  test('an abort in the middle of a stream closes the connection', async () => {
    const proxy = await testProxy()
    const server = await httpsServer((_, response) => response.write('first'))
    const abort = new AbortController()
    const port = upstream(proxies(proxy))
    const url = `https://vendor.test:${server.port}`
    const { body } = await call(port, { url, egress: trusted, signal: abort.signal })
    await body.read()
    abort.abort()
    await closed(server.sockets[0])
    await expect.poll(() => port.openSockets).toBe(0)
  })
})

describe('a certificate authority of a provider', () => {
  test('the authority of a provider is trusted in addition to those of the host, for this provider only', async () => {
    const server = await httpsServer((_, response) => response.end('ok'))
    const port = upstream()
    expect(await whole(await call(port, { ...server, egress: trusted }))).toBe('ok')
    expect(await failure(call(port, server))).toMatchObject({
      reason: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    })
  })

  test('a trusted authority does not allow another host name', async () => {
    const server = await httpsServer((_, response) => response.end('ok'))
    const url = `https://127.0.0.1:${server.port}`
    expect(await failure(call(upstream(), { url, egress: trusted }))).toMatchObject({
      reason: 'ERR_TLS_CERT_ALTNAME_INVALID',
      phase: 'connecting',
    })
  })

  test('an authority file without a certificate fails only the call', async () => {
    const egress = { ca: '-----BEGIN CERTIFICATE-----\nbroken\n-----END CERTIFICATE-----\n' }
    const outcome = await failure(call(upstream(), { url: 'https://localhost:1', egress }))
    expect(outcome).toMatchObject({ kind: 'network', phase: 'connecting' })
  })
})
