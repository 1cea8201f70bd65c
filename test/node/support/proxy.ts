import {
  createServer,
  type IncomingMessage,
  type ServerResponse,
  request as sendRequest,
} from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { connect, type Socket } from 'node:net'
import { started, type TestServer } from './servers.ts'
import { identity } from './tls.ts'

export interface TestProxy extends TestServer {
  /** The request lines, in order: `CONNECT vendor.test:443`, `POST http://vendor.test/v1`. */
  readonly asked: string[]
  /** `proxy-authorization` of each request, in order. */
  readonly credentials: (string | undefined)[]
}

export interface TestProxyOptions {
  /** Responds to every request with this status. */
  readonly refusal?: number
  /** Accepts TLS connections, as `localhost`. */
  readonly secure?: boolean
}

/**
 * A proxy for tunnels and absolute URLs. It resolves every name to 127.0.0.1, since the proxy
 * resolves names.
 */
export async function testProxy(options: TestProxyOptions = {}): Promise<TestProxy> {
  const { refusal, secure = false } = options
  const asked: string[] = []
  const credentials: (string | undefined)[] = []
  const note = ({ method, url, headers }: IncomingMessage) => {
    asked.push(`${method} ${url}`)
    credentials.push(headers['proxy-authorization'])
  }
  const server = secure ? createSecureServer(identity()) : createServer()
  server.on('request', (incoming: IncomingMessage, response: ServerResponse) => {
    note(incoming)
    if (refusal !== undefined) return response.writeHead(refusal).end('refused')
    const { port, pathname, search } = new URL(incoming.url ?? '')
    const { 'proxy-authorization': _, ...headers } = incoming.headers
    const outgoing = sendRequest(
      { host: '127.0.0.1', port, path: pathname + search, method: incoming.method, headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(response)
      },
    )
    outgoing.on('error', () => response.destroy())
    response.on('close', () => outgoing.destroy())
    incoming.pipe(outgoing)
  })
  server.on('connect', (incoming: IncomingMessage, client: Socket) => {
    note(incoming)
    if (refusal !== undefined) return client.end(`HTTP/1.1 ${refusal} No\r\n\r\nrefused`)
    const port = Number(/:(\d+)$/.exec(incoming.url ?? '')?.[1])
    const upstream = connect(port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n')
      client.pipe(upstream).pipe(client)
    })
    for (const [end, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      end.on('error', () => {})
      end.on('close', () => other.destroy())
    }
  })
  const listening = await started(server)
  const url = secure ? `https://localhost:${listening.port}` : listening.url
  return { ...listening, url, asked, credentials }
}
