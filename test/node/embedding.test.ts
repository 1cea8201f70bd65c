import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import express, { type Express } from 'express'
import { describe, expect, onTestFinished, test } from 'vitest'
import { requestListener } from '../../adapters/node/index.ts'
import { httpServer } from './support/servers.ts'
import { stubGateway, text } from './support/stub-gateway.ts'

const echo = () =>
  stubGateway(async (request) => {
    const { pathname, search } = new URL(request.url)
    return text(`${request.method} ${pathname}${search} ${await request.text()}`)
  })

describe('under a server of Node', () => {
  test.each([
    ['/llm/v1/models?a=b', 'GET /v1/models?a=b '],
    ['/llm', 'GET / '],
    ['/llm?a=b', 'GET /?a=b '],
    ['/llm/', 'GET / '],
    ['/llmvery', 'GET /llmvery '],
    ['/v1/models', 'GET /v1/models '],
  ])('with the base /llm, %s is %j', async (path, expected) => {
    const { url } = await httpServer(requestListener(echo(), { base: '/llm' }))
    expect(await (await fetch(url + path)).text()).toBe(expected)
  })

  test('without a base, paths are as they are', async () => {
    const { url } = await httpServer(requestListener(echo()))
    expect(await (await fetch(`${url}/llm/v1`)).text()).toBe('GET /llm/v1 ')
  })

  test('other listeners may watch its answers time out', async () => {
    const { url } = await httpServer(requestListener(echo()))
    const answers = await Promise.all([1, 2, 3].map(() => fetch(url)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
  })
})

describe('in an Express application', () => {
  test('the path it is mounted on is not for the gateway to see', async () => {
    const url = await listening(express().use('/llm', requestListener(echo())))
    const response = await fetch(`${url}/llm/v1/chat?a=b`, { method: 'POST', body: '{"n":1e400}' })
    expect(await response.text()).toBe('POST /v1/chat?a=b {"n":1e400}')
  })

  test('a query reaches it byte for byte', async () => {
    const url = await listening(express().use(requestListener(echo())))
    expect(await (await fetch(`${url}/v1?since=a%2Bb&x[y]=1`)).text()).toBe(
      'GET /v1?since=a%2Bb&x[y]=1 ',
    )
  })

  test('behind a body parser it says so in the log', async () => {
    const gateway = echo()
    const url = await listening(express().use(express.json(), requestListener(gateway)))
    const response = await fetch(url, {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    })
    expect(response.status).toBe(500)
    expect(await response.json()).toMatchObject({ error: { code: 'LM-5001' } })
    expect(gateway.lines).toMatchObject([
      { level: 'error', message: expect.stringContaining('ahead of body parsers') },
    ])
  })
})

async function listening(app: Express): Promise<string> {
  const server = createServer(app)
  onTestFinished(() => void server.close())
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  // A server that listens on TCP has an address of this form.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
