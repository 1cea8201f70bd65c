import { describe, expect, test } from 'vitest'
import { completion, hello, role, wholeStream } from '../support/answers.ts'
import { chat, gatewayOver } from './support/gateway-over.ts'
import { testProxy } from './support/proxy.ts'
import { closed, deferred, httpServer } from './support/servers.ts'
import { hasTinyproxy, tinyproxy } from './support/tinyproxy.ts'
import { authority, httpsServer } from './support/tls.ts'
import { upstream } from './support/upstream.ts'

/*
 * The gateway behind a proxy that others wrote.
 */

if (!hasTinyproxy) {
  console.warn('SKIPPED: tinyproxy is not installed, so nothing runs through a real proxy')
}

const config = (url: string, settings = '') => `
  [resilience]
  retry_max_attempts = 1
  [[providers]]
  name = "p"
  kind = "openai"
  base_url = "${url}/v1"
  ca_file = "authority.pem"
  ${settings}
  models = [{ id = "m" }]
`

async function behindTinyproxy(credential = 'user:secret') {
  const next = await testProxy()
  const port = await tinyproxy(next)
  const address = `http://${credential}@127.0.0.1:${port}`
  const env = { HTTPS_PROXY: address, HTTP_PROXY: address }
  const sockets = upstream(env)
  const gatewayTo = (url: string) =>
    gatewayOver(config(url), { env, upstream: sockets.send, readFile: async () => authority })
  return { next, port, sockets, gatewayTo }
}

describe.skipIf(!hasTinyproxy)('through tinyproxy', () => {
  test('an https provider is reached through a tunnel, and the next request reuses it', async () => {
    const { next, gatewayTo } = await behindTinyproxy()
    const server = await httpsServer((_, response) => response.end(JSON.stringify(completion())))
    const gateway = await gatewayTo(`https://vendor.test:${server.port}`)
    for (let round = 0; round < 3; round++) {
      expect(await (await chat(gateway)).json()).toEqual(completion())
    }
    expect(next.asked).toEqual([`CONNECT vendor.test:${server.port}`])
    expect(server.sockets).toHaveLength(1)
  })

  test('an http provider is reached with its absolute URL', async () => {
    const { gatewayTo } = await behindTinyproxy()
    const server = await httpServer((_, response) => response.end(JSON.stringify(completion())))
    const gateway = await gatewayTo(`http://vendor.test:${server.port}`)
    expect(await (await chat(gateway)).json()).toEqual(completion())
  })

  test('a stream arrives as it is sent', async () => {
    const { gatewayTo } = await behindTinyproxy()
    const rest = deferred()
    const server = await httpsServer(async (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(role + hello)
      await rest.promise
      response.end(wholeStream.slice((role + hello).length))
    })
    const gateway = await gatewayTo(`https://vendor.test:${server.port}`)
    const reader = (await chat(gateway, { stream: true })).body?.getReader()
    const decoder = new TextDecoder()
    let seen = decoder.decode((await reader?.read())?.value)
    expect(seen).toBe(role + hello)
    rest.resolve()
    for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
      seen += decoder.decode(next.value)
    }
    expect(seen).toBe(wholeStream)
  })

  test('a client that leaves closes the connection to the provider', async () => {
    const { sockets, gatewayTo } = await behindTinyproxy()
    const server = await httpsServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(role + hello)
    })
    const gateway = await gatewayTo(`https://vendor.test:${server.port}`)
    const leave = new AbortController()
    const response = await chat(gateway, { stream: true }, { signal: leave.signal })
    await response.body?.getReader().read()
    leave.abort()
    await closed(server.sockets[0])
    await expect.poll(() => sockets.openSockets).toBe(0)
  })

  test('a wrong credential is a failure that names the proxy without the credential', async () => {
    const { port, gatewayTo } = await behindTinyproxy('user:canary')
    const { error } = await (await chat(await gatewayTo('https://vendor.test'))).json()
    expect(error).toMatchObject({
      code: 'LM-3003',
      message: `provider p could not be reached: the proxy 127.0.0.1:${port} refused with status 401`,
    })
  })
})
