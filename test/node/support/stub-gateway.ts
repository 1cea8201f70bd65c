import { onTestFinished } from 'vitest'
import { type HostedGateway, type ServeOptions, serve } from '../../../adapters/node/index.ts'
import { nodeResponse } from '../../../adapters/node/ports/plain-response.ts'
import { NodeReadableStream } from '../../../adapters/node/streams/index.ts'
import { type AsciiText, headerList } from '../../../src/core/ports.ts'
import { unbuffered } from '../../../src/core/streams.ts'
import type { FetchOptions, HostSettings, LogLevel, Source } from '../../../src/index.ts'
import { openBodyLimiter } from '../../support/open-body-limiter.ts'

export interface LogLine {
  readonly level: LogLevel
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>> | undefined
}

/** A stub gateway with scripted responses and recorded calls. */
export interface StubGateway extends HostedGateway {
  readonly lines: LogLine[]
  readonly calls: string[]
}

const hostSettings: HostSettings = {
  host: '127.0.0.1',
  port: 0,
  bodyLimit: 1024,
  corsOrigins: [],
  maxConnectionsPerAddress: 0,
  drainDelay: 0,
}

export type Answer = (request: Request, context: FetchOptions) => Promise<Response> | Response

export interface StubOptions {
  readonly settings?: Partial<HostSettings>
  readonly drain?: () => void
  readonly close?: () => Promise<void>
}

export function stubGateway(answer: Answer, options: StubOptions = {}): StubGateway {
  const { settings = {}, drain = () => {}, close = async () => {} } = options
  const lines: LogLine[] = []
  const calls: string[] = []
  return {
    lines,
    calls,
    fetch: async (request, context = {}) => {
      calls.push(`${request.method} ${new URL(request.url).pathname}`)
      return answer(request, context)
    },
    settings: { ...hostSettings, ...settings },
    buffers: openBodyLimiter().buffers,
    log: {
      enabled: () => true,
      write: (level, message, fields) => lines.push({ level, message, fields }),
    },
    startDraining() {},
    drain: () => {
      calls.push('drain')
      drain()
    },
    close: async () => {
      calls.push('close')
      await close()
      return { rows: 0, spend: 0 }
    },
  }
}

/** Serves `gateway` on a free port until the test ends. */
export async function served(gateway: HostedGateway, options: ServeOptions = {}) {
  const serving = await serve(gateway, {
    port: 0,
    shutdown: { drain: 100, gracePeriod: 100, flush: 100 },
    ...options,
  })
  onTestFinished(() => serving.close())
  return { ...serving, port: Number(new URL(serving.address).port), serving }
}

export function text(body: string, { status = 200, headers = {} }: TextInit = {}): Response {
  // The tests send ASCII only.
  return nodeResponse({ status, headers: headerList(headers), body: body as AsciiText })
}

interface TextInit {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
}

/** A response that a test writes to and that notices when its reader leaves. */
export function stream(source: Source<Uint8Array>): Response {
  const body = new NodeReadableStream(source, unbuffered)
  return nodeResponse({
    status: 200,
    headers: headerList({ 'content-type': 'text/event-stream' }),
    body,
  })
}

/** Resolves when the client has left. */
export function clientGone({ signal }: FetchOptions): Promise<void> {
  return new Promise((resolve) => {
    signal?.addEventListener('abort', resolve)
  })
}
