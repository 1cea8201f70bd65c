import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import express, { type Express } from 'express'
import { describe, expect, onTestFinished, test } from 'vitest'
import { requestListener } from '../../adapters/node/index.ts'
import { rawClient } from './support/raw-client.ts'
import { activeTime, deferred, httpServer } from './support/servers.ts'
import { clientGone, stubGateway, text } from './support/stub-gateway.ts'

const echo = () =>
  stubGateway(async (request) => {
    const { pathname, search } = new URL(request.url)
    return text(`${request.method} ${pathname}${search} ${await request.text()}`)
  })

describe('under a server of Node', () => {
  test('with a base the gateway serves its routes below that path', async () => {
    const gateway = stubGateway(({ url }, { base }) => text(`${base} ${new URL(url).pathname}`))
    const { url } = await httpServer(requestListener(gateway, { base: '/llm' }))
    expect(await (await fetch(`${url}/llm/v1`)).text()).toBe('/llm /llm/v1')
  })

  test('without a base the gateway serves its routes at the root', async () => {
    const { url } = await httpServer(requestListener(echo()))
    expect(await (await fetch(`${url}/llm/v1`)).text()).toBe('GET /llm/v1 ')
  })

  test('a client that leaves is noticed while another listener has not responded yet', async () => {
    const asked = deferred()
    const gone = deferred()
    const gateway = stubGateway(async (_, context) => {
      asked.resolve()
      await clientGone(context)
      gone.resolve()
      return text('too late')
    })
    const listen = requestListener(gateway)
    const { port } = await httpServer((request, response) => {
      if (request.url !== '/other') listen(request, response)
    })
    const client = rawClient(port)
    client.send('GET /other HTTP/1.1\r\nhost: a\r\n\r\nGET / HTTP/1.1\r\nhost: a\r\n\r\n')
    await asked.promise
    client.socket.destroy()
    expect(await activeTime(gone.promise)).toBeLessThan(250)
  })
})

describe('in an Express application', () => {
  test('Express removes the mount path', async () => {
    const url = await listening(express().use('/llm', requestListener(echo())))
    const response = await fetch(`${url}/llm/v1/chat?a=b`, { method: 'POST', body: '{"n":1e400}' })
    expect(await response.text()).toBe('POST /v1/chat?a=b {"n":1e400}')
  })

  test('a query reaches the gateway byte for byte', async () => {
    const url = await listening(express().use(requestListener(echo())))
    expect(await (await fetch(`${url}/v1?since=a%2Bb&x[y]=1`)).text()).toBe(
      'GET /v1?since=a%2Bb&x[y]=1 ',
    )
  })

  test('a body parser in front of the gateway is reported in the log and in the response', async () => {
    const gateway = echo()
    const url = await listening(express().use(express.json(), requestListener(gateway)))
    const response = await fetch(url, {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    })
    const message = expect.stringContaining('mount the gateway ahead of body parsers')
    expect(response.status).toBe(500)
    expect(response.headers.get('x-should-retry')).toBe('false')
    expect(await response.json()).toMatchObject({ error: { code: 'LM-1001', message } })
    expect(gateway.lines).toMatchObject([{ level: 'error', message }])
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
