import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { anthropic } from './anthropic/dialect.ts'
import { bedrock } from './bedrock/dialect.ts'
import { toDialect } from './compatible/dialect.ts'
import { compatibleUpstreams } from './compatible/index.ts'
import { azureDecisions } from './decisions/azure.ts'
import { typesafeDialect } from './decisions/typesafe.ts'
import type { Dialect, Reply, StreamReply, UpstreamRequest } from './dialect.ts'
import { google } from './google/dialect.ts'
import { openai } from './openai/dialect.ts'
import { Refusal } from './refusal.ts'
import { readScenario, type Scenario } from './scenario.ts'

/** A request that the upstream has seen. */
export interface Exchange {
  readonly path: string
  /** When the request had arrived, in milliseconds. */
  readonly at: number
  readonly body: unknown
  /** The request holds a substitute for a proof that was lost on its way. */
  readonly lacksProof?: boolean
  /** What the vendor passes over, although it serves the request. */
  readonly misread?: string
  /** Absent for an answer with status 200. */
  readonly refusal?: {
    readonly status: number
    readonly message: string
    /** Whether the scenario asked for it; any other refusal is a fault of the request. */
    readonly isScripted: boolean
  }
}

export interface Upstream {
  /** Without a slash at its end. */
  readonly address: string
  /** The requests so far, in order. */
  readonly exchanges: readonly Exchange[]
  forget(): void
  close(): Promise<void>
}

const dialects: Readonly<Record<string, Dialect>> = {
  openai,
  anthropic,
  google,
  bedrock,
  azure: azureDecisions,
  typesafe: typesafeDialect('/v1/systemone'),
  perplexity: typesafeDialect('/v1/decisions'),
  ...Object.fromEntries(compatibleUpstreams.map((each) => [each.name, toDialect(each)])),
}

/** Starts the upstream on a port of 127.0.0.1; 0 picks a free one. */
export async function startUpstream(port = 0): Promise<Upstream> {
  const exchanges: Exchange[] = []
  const server = createServer((request, response) => {
    serve(request, response, exchanges).catch((cause: unknown) => {
      process.stderr.write(`the upstream failed: ${String(cause)}\n`)
      response.destroy()
    })
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  // A server that listens on a port has an address with a port.
  const { port: bound } = server.address() as AddressInfo
  return {
    address: `http://127.0.0.1:${bound}`,
    exchanges,
    forget: () => exchanges.splice(0),
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function serve(
  message: IncomingMessage,
  response: ServerResponse,
  exchanges: Exchange[],
): Promise<void> {
  const text = Buffer.concat(await message.toArray()).toString()
  const url = new URL(message.url ?? '/', 'http://upstream')
  if (url.pathname === '/exchanges') {
    const listed = message.method === 'DELETE' ? exchanges.splice(0) : exchanges
    return sendJson(response, { status: 200, body: listed })
  }
  const [, name = '', path = ''] = /^\/(\w+)(\/.*)$/.exec(url.pathname) ?? []
  const dialect = dialects[name]
  if (!dialect) return sendJson(response, { status: 404, body: { message: 'no such vendor' } })
  const exchange = { path: url.pathname + url.search, at: Date.now(), body: text as unknown }
  try {
    const headers = new Headers(Object.entries(message.headers).map(([k, v]) => [k, String(v)]))
    const body = parseJson(text)
    exchange.body = body
    const reply = handle(dialect, {
      path,
      query: url.searchParams,
      headers,
      body,
      method: message.method,
    })
    const { lacksProof, misread } = reply
    exchanges.push({
      ...exchange,
      ...(lacksProof && { lacksProof }),
      ...(misread !== undefined && { misread }),
    })
    await sendReply(response, reply)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const { status, message: reason, isScripted } = error
    exchanges.push({ ...exchange, refusal: { status, message: reason, isScripted } })
    sendJson(response, dialect.refuse(error))
  }
}

function handle(
  dialect: Dialect,
  { method, ...request }: UpstreamRequest & { readonly method: string | undefined },
): Reply {
  if (method !== 'POST') throw new Refusal(405, 'method not allowed')
  return dialect.handle(request)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Refusal(400, 'the body is not valid JSON')
  }
}

async function sendReply(response: ServerResponse, reply: Reply): Promise<void> {
  const scenario = readScenario(reply.model)
  if (reply.kind === 'stream') return sendStream(response, reply, scenario)
  if (scenario === 'slow') await delay(300)
  if (scenario !== 'cut') return sendJson(response, { status: 200, body: reply.body })
  const bytes = Buffer.from(JSON.stringify(reply.body))
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length })
  await cut(response, bytes.subarray(0, bytes.length / 2))
}

async function sendStream(
  response: ServerResponse,
  { contentType, frames }: StreamReply,
  scenario: Scenario,
): Promise<void> {
  response.writeHead(200, { 'content-type': contentType })
  const isCut = scenario === 'cut'
  for (const [index, frame] of frames.entries()) {
    if (scenario === 'slow') await delay(300)
    if (isCut && index >= frames.length / 2) return cut(response, frame)
    if (!response.write(frame)) await once(response, 'drain')
  }
  response.end()
}

/** Loses the connection after the bytes have left. */
async function cut(response: ServerResponse, last: string | Uint8Array): Promise<void> {
  await new Promise((resolve) => response.write(last, resolve))
  response.destroy()
}

function sendJson(
  response: ServerResponse,
  {
    status,
    headers,
    body,
  }: { status: number; headers?: Readonly<Record<string, string>>; body: unknown },
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify(body))
}
