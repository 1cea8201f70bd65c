import { once } from 'node:events'
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { request as sendRequest } from 'node:https'
import { text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { serve } from '../../adapters/node/index.ts'
import type { Log } from '../../src/index.ts'
import { completion, hello, role, wholeStream } from '../support/answers.ts'
import { type FrontProxy, frontProxy, hasFrontProxy } from './support/front-proxy.ts'
import { gatewayOver } from './support/gateway-over.ts'
import { closed, deferred, httpServer } from './support/servers.ts'
import { authority } from './support/tls.ts'

/*
 * The gateway behind the reverse proxies of the documentation, configured as it says.
 */

const chat = '/v1/chat/completions'
const proxies: readonly FrontProxy[] = ['nginx', 'haproxy', 'caddy']

for (const name of proxies.filter((each) => !hasFrontProxy(each))) {
  console.warn(`SKIPPED: ${name} is not installed, so its example in the documentation is not run`)
}

type Upstream = Parameters<typeof httpServer>[0]

async function behind(name: FrontProxy, upstream: Upstream) {
  const vendor = await httpServer(upstream)
  const log: object[] = []
  const write: Log['write'] = (_, message, fields) => void log.push({ message, ...fields })
  const gateway = await gatewayOver(
    `
      [resilience]
      retry_max_attempts = 1
      [[providers]]
      name = "p"
      kind = "openai"
      base_url = "${vendor.url}/v1"
      models = [{ id = "m" }]
    `,
    { log: () => ({ enabled: () => true, write }) },
  )
  const host = await serve(gateway, { port: 0 })
  onTestFinished(() => host.close())
  const port = await frontProxy(name, Number(new URL(host.address).port))
  return { vendor, log, send: (request: Sent) => sendTo(port, request) }
}

interface Sent {
  readonly path?: string
  readonly body?: object
  readonly headers?: OutgoingHttpHeaders
  readonly signal?: AbortSignal
}

/** Sends a request to the proxy; a POST where it has a body. */
function sendTo(port: number, { path = chat, body, headers = {}, signal }: Sent) {
  const request = sendRequest({
    host: 'localhost',
    family: 4,
    port,
    path,
    ca: authority,
    method: body ? 'POST' : 'GET',
    headers: { 'content-type': 'application/json', ...headers },
    signal,
  })
  request.end(body && JSON.stringify(body))
  return new Promise<IncomingMessage>((resolve, reject) => {
    // What is read of it fails by itself.
    request.once('response', (response) => resolve(response.on('error', () => {})))
    request.on('error', reject)
  })
}

const asking = (fields: object = {}) => ({
  model: 'm',
  messages: [{ role: 'user', content: 'Hi' }],
  ...fields,
})

function askingAtLength(mebibytes: number): object {
  return asking({ messages: [{ role: 'user', content: 'x'.repeat(mebibytes * 1024 * 1024) }] })
}

const answers: Upstream = (request, response) => {
  request.resume().once('end', () => response.end(JSON.stringify(completion())))
}

describe.each(proxies)('behind %s', (name) => {
  describe.skipIf(!hasFrontProxy(name))('as the documentation configures it', () => {
    test('the frames of a stream arrive as they are sent', async () => {
      const rest = deferred()
      const { send } = await behind(name, async (_, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write(role + hello)
        await rest.promise
        response.end(wholeStream.slice((role + hello).length))
      })
      const response = await send({ body: asking({ stream: true }) })
      response.setEncoding('utf8')
      const [first] = await once(response, 'data')
      expect(first).toContain('"content":')
      rest.resolve()
      expect(first + (await text(response))).toBe(wholeStream)
    })

    test.each([true, false])(
      'a client that leaves ends the upstream call, stream: %s',
      async (stream) => {
        const asked = deferred()
        const { vendor, send } = await behind(name, (_, response) => {
          if (stream)
            response.writeHead(200, { 'content-type': 'text/event-stream' }).write(role + hello)
          asked.resolve()
        })
        const leave = new AbortController()
        const response = send({ body: asking({ stream }), signal: leave.signal })
        await asked.promise
        if (stream) await response
        leave.abort()
        if (!stream) await expect(response).rejects.toThrow('aborted')
        await expect(closed(vendor.sockets[0])).resolves.toBeUndefined()
      },
    )

    test('a body of 9 MiB passes', async () => {
      const { send } = await behind(name, answers)
      expect(JSON.parse(await text(await send({ body: askingAtLength(9) })))).toEqual(completion())
    })

    test('X-Forwarded-For is ignored, and the request id of the proxy is kept', async () => {
      let seen: object = {}
      const { log, send } = await behind(name, (request, response) => {
        seen = request.headers
        answers(request, response)
      })
      const headers = { 'x-forwarded-for': '192.0.2.7', 'x-request-id': 'of-the-client' }
      const response = await send({ body: asking(), headers })
      expect(response.statusCode).toBe(200)
      expect(JSON.stringify(seen)).not.toMatch(/192\.0\.2\.7|forwarded|real-ip/i)
      const id = response.headers['x-request-id']
      expect(id).toMatch(/^[0-9a-f-]{32,36}$/i)
      expect(log).toContainEqual(expect.objectContaining({ message: 'request', request_id: id }))
      await send({ path: '/absent', headers })
      expect(log).toContainEqual(
        expect.objectContaining({ message: 'no route', client: '127.0.0.1', path: '/absent' }),
      )
    })

    test.each(['/metrics', '/admin/keys', '/%6detrics'])(
      '%s is closed to the outside',
      async (path) => {
        const { log, send } = await behind(name, answers)
        const response = await send({ path })
        expect(response.statusCode).toBe(404)
        expect(await text(response)).not.toContain('LM-')
        expect(log).toEqual([])
      },
    )
  })
})

// The others pass a body on as it comes, and may cut off a client that still writes.
test.skipIf(!hasFrontProxy('nginx'))(
  'behind nginx the gateway itself refuses too large a body',
  async () => {
    const { send } = await behind('nginx', answers)
    const refused = await send({ body: askingAtLength(11) })
    expect(refused.statusCode).toBe(413)
    expect(JSON.parse(await text(refused))).toMatchObject({ error: { code: 'LM-1002' } })
  },
)
