import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import { nodeImageFetch } from '../../adapters/node/ports/image-fetch.ts'
import { readProxyRules } from '../../adapters/node/upstream/proxy-rules.ts'
import { LightAbortController } from '../../src/wire/light-abort-controller.ts'
import { testProxy } from './support/proxy.ts'
import { whole } from './support/upstream.ts'

const imageFetch = nodeImageFetch({ rules: readProxyRules({}) })

let server: Server | undefined

afterEach(async () => {
  server?.closeAllConnections()
  server?.close()
})

async function listen(listener: RequestListener): Promise<number> {
  server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

function request(port: number) {
  return {
    url: `http://pictures.invalid:${port}/a.png?x=1`,
    address: '127.0.0.1',
    headers: { accept: 'image/*' },
    queueLimit: 1000,
    signal: new LightAbortController(),
  }
}

test('connects to the given address without resolving the name', async () => {
  const port = await listen((incoming, response) => {
    const { host, accept } = incoming.headers
    response.setHeader('content-type', 'image/png')
    response.end(`${incoming.url} ${host} ${accept}`)
  })
  const { status, header, body } = await imageFetch.fetch(request(port))
  expect(status).toBe(200)
  expect(header('content-type')).toBe('image/png')
  const text = new TextDecoder().decode(await body.read())
  expect(text).toBe(`/a.png?x=1 pictures.invalid:${port} image/*`)
  expect(await body.read()).toBeUndefined()
})

test('follows no redirect', async () => {
  const port = await listen((_, response) => {
    response.writeHead(302, { location: '/elsewhere' }).end()
  })
  const { status, header } = await imageFetch.fetch(request(port))
  expect([status, header('location')]).toEqual([302, '/elsewhere'])
})

test('a body over the limit closes the connection, and so does a cancel', async () => {
  const closed: Promise<unknown>[] = []
  const port = await listen((_, response) => {
    closed.push(once(response, 'close'))
    response.write(Buffer.alloc(5000))
  })
  const long = await imageFetch.fetch(request(port))
  await closed[0]
  await expect(long.body.read()).rejects.toMatchObject({ failure: { kind: 'slow-client' } })
  const called = request(port)
  const pending = await imageFetch.fetch({ ...called, queueLimit: 10_000 })
  called.signal.abort()
  await closed[1]
  await pending.body.read().catch(() => {})
})

test('a closed port and a broken connection are network failures', async () => {
  const port = await listen((incoming) => incoming.socket.destroy())
  const failure = { failure: { kind: 'network' } }
  await expect(imageFetch.fetch(request(port))).rejects.toMatchObject(failure)
  await expect(imageFetch.fetch(request(1))).rejects.toMatchObject(failure)
})

test('resolves a name to all of its addresses', async () => {
  const lookup = { url: new URL('http://localhost/'), signal: new LightAbortController() }
  expect(await imageFetch.resolve('localhost', lookup)).toContain('127.0.0.1')
})

describe('through a proxy', () => {
  test('the proxy resolves the name, and the host does not', async () => {
    const proxy = await testProxy()
    const port = await listen((incoming, response) => {
      response.setHeader('content-type', 'image/png')
      response.end(`${incoming.url} ${incoming.headers.host}`)
    })
    const fetcher = nodeImageFetch({
      rules: readProxyRules({ HTTP_PROXY: proxy.url }),
      resolve: () => Promise.reject(new Error('nothing is to be resolved here')),
    })
    const url = `http://pictures.test:${port}/a.png`
    const lookup = { url: new URL(url), signal: new LightAbortController() }
    expect(await fetcher.resolve('pictures.test', lookup)).toBe('at-proxy')
    const response = await fetcher.fetch({ ...request(port), url, address: undefined })
    expect(await whole(response)).toBe(`/a.png pictures.test:${port}`)
    expect(proxy.asked).toEqual([`GET ${url}`])
  })

  test('loopback names are resolved and checked on the host', async () => {
    const fetcher = nodeImageFetch({
      rules: readProxyRules({ HTTP_PROXY: 'http://127.0.0.1:1' }),
      resolve: async () => ['127.0.0.1'],
    })
    const lookup = { url: new URL('http://localhost/a.png'), signal: new LightAbortController() }
    expect(await fetcher.resolve('localhost', lookup)).toEqual(['127.0.0.1'])
  })
})

test('without an address and a proxy the fetch fails', async () => {
  const failure = { failure: { kind: 'network', reason: 'ENOTFOUND' } }
  const fetching = imageFetch.fetch({ ...request(1), address: undefined })
  await expect(fetching).rejects.toMatchObject(failure)
})

test('a compressed image is decoded', async () => {
  const port = await listen((_, response) => {
    response.setHeader('content-encoding', 'gzip')
    response.end(gzipSync('picture'))
  })
  expect(await whole(await imageFetch.fetch(request(port)))).toBe('picture')
})
