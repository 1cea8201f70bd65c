import { onTestFinished } from 'vitest'
import { type HostedGateway, type ServeOptions, serve } from '../../../adapters/node/index.ts'
import { fetchApi } from '../../../adapters/node/ports/fetch-api.ts'
import type { LogLevel, RequestContext } from '../../../src/index.ts'

export interface LogLine {
  readonly level: LogLevel
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>> | undefined
}

/** A gateway that is nothing but its answers, and what a test wants to know of it. */
export interface StubGateway extends HostedGateway {
  readonly lines: LogLine[]
  readonly calls: string[]
}

export type Answer = (request: Request, context: RequestContext) => Promise<Response> | Response

export interface StubOptions {
  readonly bodyLimit?: number
  readonly drain?: () => void
  readonly close?: () => Promise<void>
}

export function stubGateway(answer: Answer, options: StubOptions = {}): StubGateway {
  const { bodyLimit = 1024, drain = () => {}, close = async () => {} } = options
  const lines: LogLine[] = []
  const calls: string[] = []
  return {
    lines,
    calls,
    fetch: async (request, context = {}) => {
      calls.push(`${request.method} ${new URL(request.url).pathname}`)
      return answer(request, context)
    },
    settings: { host: '127.0.0.1', port: 0, bodyLimit },
    log: {
      enabled: () => true,
      write: (level, message, fields) => lines.push({ level, message, fields }),
    },
    drain: () => {
      calls.push('drain')
      drain()
    },
    close: async () => {
      calls.push('close')
      await close()
    },
  }
}

/** Serves `gateway` on a free port until the test is over. */
export async function served(gateway: HostedGateway, options: ServeOptions = {}) {
  const serving = await serve(gateway, {
    port: 0,
    shutdown: { drain: 100, farewell: 100, flush: 100 },
    ...options,
  })
  onTestFinished(() => serving.close())
  return { ...serving, port: Number(new URL(serving.address).port), serving }
}

export function text(body: string, init?: ResponseInit): Response {
  return new fetchApi.Response(body, init)
}

/** An answer that `write` feeds, and that knows whether its reader has left. */
export function stream(source: UnderlyingSource<Uint8Array>): Response {
  return new fetchApi.Response(new fetchApi.ReadableStream(source), {
    headers: { 'content-type': 'text/event-stream' },
  })
}

/** Resolves when the client has left. */
export function clientGone({ signal }: RequestContext): Promise<void> {
  return new Promise((resolve) => {
    signal?.addEventListener('abort', resolve)
  })
}
