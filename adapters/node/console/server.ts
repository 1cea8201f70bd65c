import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { callGateway } from './api.ts'
import { type Assets, readAssets } from './assets.ts'
import { createGatewayClient, type GatewayClient } from './gateway-client.ts'
import { createSession, type Session } from './session.ts'

export interface ConsoleOptions {
  /** The address of the gateway, for example `http://127.0.0.1:8080`. */
  readonly gateway: string
  readonly masterKey: string
  /** The port of the console; 0 picks a free one. */
  readonly port: number
  /** The folder with the built page. */
  readonly folder: URL
}

/** A console that is listening. */
export interface ServedConsole {
  /** The link that opens the console; it carries the code of the session. */
  readonly link: string
  close(): Promise<void>
}

/** Serves the console on the loopback interface. Rejects when it cannot listen. */
export async function serveConsole(options: ConsoleOptions): Promise<ServedConsole> {
  const { gateway, masterKey, port, folder } = options
  const assets = await readAssets(folder)
  const client = createGatewayClient(gateway, masterKey)
  const server = createServer()
  await listen(server, port)
  // A TCP server that listens has an address with a port.
  const { port: boundPort } = server.address() as AddressInfo
  const hosts = [`127.0.0.1:${boundPort}`, `localhost:${boundPort}`]
  const session = createSession()
  const context: ConsoleContext = { gateway, hosts, session, assets, client }
  server.on('request', (request, response) => {
    // A browser that leaves in the middle of an answer ends it; all else has been answered.
    handle({ request, response }, context).catch(() => response.destroy())
  })
  return {
    link: `http://${hosts[0]}/#code=${session.code}`,
    async close() {
      server.close()
      server.closeAllConnections()
      await client.close()
    },
  }
}

interface ConsoleContext {
  /** The address of the gateway. */
  readonly gateway: string
  /** The values of `Host` under which the console is opened. */
  readonly hosts: readonly string[]
  readonly session: Session
  readonly assets: Assets
  readonly client: GatewayClient
}

interface BrowserRequest {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/** Everything that the page loads comes from this server. */
const securityHeaders = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
}

async function handle(received: BrowserRequest, context: ConsoleContext): Promise<void> {
  const { request, response } = received
  const { method = '', url = '/' } = request
  const { host = '', origin } = request.headers
  for (const [name, value] of Object.entries(securityHeaders)) response.setHeader(name, value)
  // A page of another name that resolves to this machine sends its own name here.
  if (!context.hosts.includes(host)) {
    return refuse(response, 421, 'open the console at its own address')
  }
  // Pages on other ports of this machine are of the same site, so nothing but the origin tells them apart.
  if (origin !== undefined && origin !== `http://${host}`) {
    return refuse(response, 403, 'only the page of the console may send requests here')
  }
  const asset = context.assets.get(url)
  if (asset && method === 'GET') {
    response.setHeader('content-type', asset.type)
    response.end(asset.bytes)
    return
  }
  if (url === '/session' && method === 'POST') return openSession(received, context)
  if (!context.session.hasToken(readToken(request))) {
    return refuse(response, 401, 'open the link that the command printed, or enter its code')
  }
  if (url.startsWith('/api/')) return forward(received, context)
  if (url === '/gateway') return answer(response, { address: context.gateway })
  refuse(response, 404, 'there is no such page')
}

/** The token of the session: the browser sends it only when a script of this page adds it. */
function readToken({ headers }: IncomingMessage): string {
  const token = headers['x-console-token']
  return typeof token === 'string' ? token : ''
}

async function openSession(
  { request, response }: BrowserRequest,
  { session }: ConsoleContext,
): Promise<void> {
  const code = await readText(request, response)
  if (code === undefined) return
  if (!session.hasCode(code.trim())) {
    return refuse(response, 403, 'the code is not the one that the command printed')
  }
  answer(response, { token: session.token })
}

async function forward(
  { request, response }: BrowserRequest,
  { client }: ConsoleContext,
): Promise<void> {
  const { method = '', url = '' } = request
  const left = new AbortController()
  response.once('close', () => left.abort())
  const body = method === 'GET' ? '' : await readText(request, response)
  if (body === undefined) return
  const path = url.slice('/api'.length)
  const call = { method, path, body: body === '' ? undefined : body, signal: left.signal }
  const called = await callGateway(call, client).catch(() => 'unreachable' as const)
  if (called === 'unreachable') return refuse(response, 502, 'the gateway cannot be reached')
  if (!called) return refuse(response, 404, 'the console does not forward this request')
  if (called.status === 401 && path.startsWith('/admin/')) {
    // To the page, 401 means that its session has ended.
    return refuse(response, 502, 'the gateway does not accept the master key of the console')
  }
  response.statusCode = called.status
  for (const name of passedHeaders) {
    const value = called.headers.get(name)
    if (value !== null) response.setHeader(name, value)
  }
  if (called.body) await pipeline(called.body, response)
  else response.end()
}

const passedHeaders = [
  'content-type',
  'x-request-id',
  'x-gateway-model-used',
  'x-gateway-provider',
  'x-gateway-attempts',
  'x-gateway-cost',
]

/** The page sends short forms, and chats that a person types. */
const maxBodyBytes = 1024 * 1024

/** Reads a body; undefined when it is too large, which has then been answered. */
async function readText(
  request: IncomingMessage,
  response: ServerResponse,
): Promise<string | undefined> {
  const pieces: Buffer[] = []
  let size = 0
  // Without an encoding the pieces are buffers.
  for await (const piece of request as AsyncIterable<Buffer>) {
    size += piece.length
    if (size > maxBodyBytes) {
      refuse(response, 413, `a request may have at most ${maxBodyBytes} bytes`)
      return undefined
    }
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString()
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.statusCode = status
  answer(response, { error: { message } })
}

function answer(response: ServerResponse, body: object): void {
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(body))
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host: '127.0.0.1', port }, () => {
      server.off('error', reject)
      resolve()
    })
  })
}
