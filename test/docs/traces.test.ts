import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { propagation, trace } from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import * as conventions from '@opentelemetry/semantic-conventions/incubating'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { OpenTraces } from '../../src/index.ts'
import { completion, role, wholeStream } from '../support/answers.ts'
import { cachedProvider } from '../support/cached.ts'
import { makeChain } from '../support/chain.ts'
import { oneProvider, testGateway } from '../support/gateway.ts'
import { keyedGateway } from '../support/keyed-gateway.ts'
import { MemoryTraces } from '../support/memory-traces.ts'
import { otters, rerank, rerankConfig, scores } from '../support/rerank.ts'
import { json, type Responder, silent, stream, whole } from '../support/scripted-upstream.ts'
import { readStream } from '../support/stream-client.ts'
import { blocksOf } from './shell.ts'

const page = readFileSync('docs/traces.md', 'utf8')

/** Returns the attributes in the table below a heading. */
function documented(heading: string): string[] {
  const [, text = ''] = page.split(`\n### ${heading}\n`)
  const [body = ''] = text.split(/^#/m)
  return [...body.matchAll(/^\| `([\w.]+)` \|/gm)].map(([, name = '']) => name)
}

const detailed = {
  usage: {
    prompt_tokens: 9,
    completion_tokens: 2,
    total_tokens: 11,
    prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 2 },
    completion_tokens_details: { reasoning_tokens: 1 },
  },
}

const ask = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }

/** A call whose first connection was lost at once. */
const resent: Responder = (request) => {
  request.mayResend?.()
  return json(completion())(request)
}

/** The attributes of all spans of requests that differ in every way that an attribute shows. */
async function collectAttributes(): Promise<Record<'server' | 'client', string[]>> {
  const traces = new MemoryTraces()
  const options = { traces: traces.open }
  const keyed = await keyedGateway(cachedProvider(), options)
  keyed.upstream.next(json(completion('Hi', detailed)))
  const key = await keyed.key()
  await keyed.ask(key, ask)
  await keyed.ask(key, ask)

  const failing = await testGateway(
    makeChain([{ settings: 'first_token_timeout_ms = 900' }]),
    options,
  )
  failing.upstream.next(json({}, { status: 503 }), silent())
  const answer = failing.chat(ask)
  await failing.clock.advance(1_000)
  await answer

  const plain = await testGateway(oneProvider, options)
  plain.upstream.next(
    resent,
    whole(JSON.stringify(completion('Hi', {}))),
    stream([role, wholeStream]),
  )
  await plain.chat(ask)
  await plain.chat(ask)
  await readStream(plain)

  const ranking = await testGateway(rerankConfig({ kind: 'cohere' }), options)
  ranking.upstream.next(scores([[0, 1]], { meta: { billed_units: { search_units: 1 } } }))
  await rerank(ranking, otters)
  const namesOf = (kind: 'server' | 'client') => [
    ...new Set(
      traces.all.flatMap((span) => (span.kind === kind ? Object.keys(span.attributes) : [])),
    ),
  ]
  return { server: namesOf('server'), client: namesOf('client') }
}

test('the tables list exactly the attributes of the spans', async () => {
  const { server, client } = await collectAttributes()
  expect(documented('The request').toSorted()).toEqual(server.toSorted())
  expect(documented('The upstream calls').toSorted()).toEqual(client.toSorted())
})

test('an attribute that is not of the gateway is one of the conventions', () => {
  const known = new Set<unknown>(Object.values(conventions))
  const names = [...documented('The request'), ...documented('The upstream calls')]
  const foreign = names.filter((name) => !name.startsWith('gateway.'))
  expect(foreign.filter((name) => !known.has(name))).toEqual([])
})

describe('the example of an embedded gateway', () => {
  const folder = 'test/docs/.traces-examples'

  beforeAll(() => {
    mkdirSync(folder, { recursive: true })
    const example = blocksOf('docs/traces.md').find(({ info }) => info === 'ts traces')
    writeFileSync(resolve(folder, 'traces.ts'), example?.text ?? '')
  })

  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test('sends the spans to the tracer of the application', async () => {
    const exporter = new InMemorySpanExporter()
    const provider = new BasicTracerProvider({
      spanProcessors: [new SimpleSpanProcessor(exporter)],
    })
    trace.setGlobalTracerProvider(provider)
    propagation.setGlobalPropagator(new W3CTraceContextPropagator())
    onTestFinished(() => {
      trace.disable()
      propagation.disable()
    })
    const example: { traces: OpenTraces } = await import(
      /* @vite-ignore */ resolve(folder, 'traces.ts')
    )
    const { chat, upstream } = await testGateway(oneProvider, example)
    upstream.next(json({}, { status: 400 }))
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
    await chat(ask, { headers: { traceparent: `00-${traceId}-00f067aa0ba902b7-01` } })
    const [call, request] = exporter.getFinishedSpans()
    expect(request?.spanContext().traceId).toBe(traceId)
    expect(request?.parentSpanContext?.spanId).toBe('00f067aa0ba902b7')
    expect(call?.parentSpanContext?.spanId).toBe(request?.spanContext().spanId)
    expect(call).toMatchObject({ name: 'chat upstream-m', status: { code: 2 } })
    expect(upstream.requests[0]?.headers['traceparent']).toContain(call?.spanContext().spanId)
  })
})
