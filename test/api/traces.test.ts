import { describe, expect, test } from 'vitest'
import { noTrace } from '../../src/traces/index.ts'
import { chunk, completion, hello, role, usage, wholeStream } from '../support/answers.ts'
import { cachedProvider } from '../support/cached.ts'
import { makeChain } from '../support/chain.ts'
import { oneProvider, type TestGateway, testGateway } from '../support/gateway.ts'
import { keyedGateway, pricedProvider, prompt } from '../support/keyed-gateway.ts'
import { settled } from '../support/manual-clock.ts'
import { MemoryTraces } from '../support/memory-traces.ts'
import { broken, json, LiveUpstream, silent, stream } from '../support/scripted-upstream.ts'
import { readStream, StreamReader, streamed } from '../support/stream-client.ts'

const ask = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }

interface Traced extends TestGateway {
  readonly traces: MemoryTraces
}

async function tracedGateway(config?: string): Promise<Traced> {
  const traces = new MemoryTraces()
  const gateway = await testGateway(config, { traces: traces.open })
  return { ...gateway, traces }
}

describe('a request', () => {
  test('has a server span with a client span for its upstream call', async () => {
    const { chat, upstream, traces } = await tracedGateway()
    upstream.next(json(completion()))
    await chat(ask, { headers: { 'x-request-id': 'r-1' } })
    expect(traces.roots).toHaveLength(1)
    expect(traces.last).toMatchObject({
      name: 'POST /v1/chat/completions',
      kind: 'server',
      isError: false,
      ends: 1,
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/v1/chat/completions',
        'http.response.status_code': 200,
        'url.path': '/v1/chat/completions',
        'url.scheme': 'http',
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'openai',
        'gen_ai.request.model': 'm',
        'gen_ai.response.model': 'm',
        'gen_ai.usage.input_tokens': usage.prompt_tokens,
        'gen_ai.usage.output_tokens': usage.completion_tokens,
        'gateway.api': 'chat',
        'gateway.attempts': 1,
        'gateway.provider': 'p',
        'gateway.request_id': 'r-1',
      },
      children: [
        {
          name: 'chat upstream-m',
          kind: 'client',
          isError: false,
          ends: 1,
          attributes: {
            'http.request.method': 'POST',
            'http.response.status_code': 200,
            'server.address': 'api.openai.com',
            'server.port': 443,
            'gen_ai.operation.name': 'chat',
            'gen_ai.provider.name': 'openai',
            'gen_ai.request.model': 'upstream-m',
            'gateway.model': 'm',
            'gateway.provider': 'p',
          },
        },
      ],
    })
  })

  test('passes the trace of its client to the port, and that of the call to the upstream', async () => {
    const { chat, upstream, traces } = await tracedGateway()
    upstream.next(json(completion()))
    await chat(ask, { headers: { traceparent: 'from-client', tracestate: 'a=1' } })
    expect(traces.last.start).toMatchObject({ traceparent: 'from-client', tracestate: 'a=1' })
    expect(upstream.requests[0]?.headers).toMatchObject({ traceparent: 'span-2' })
  })

  test('says which key sent it and what it cost, and never the secret', async () => {
    const traces = new MemoryTraces()
    const { key, ask: send, upstream } = await keyedGateway(pricedProvider, { traces: traces.open })
    const client = await key()
    upstream.next(json(completion()))
    await send(client, prompt())
    expect(traces.last.attributes).toMatchObject({
      'gateway.key_id': client.id,
      'gateway.cost_usd': 0.000013,
    })
    expect(JSON.stringify(traces.all)).not.toContain(client.secret)
  })

  test('that is not admitted has no call, and its error is that of the client', async () => {
    const { chat, traces } = await tracedGateway()
    await chat({ ...ask, model: 'unknown' })
    expect(traces.last).toMatchObject({
      isError: false,
      children: [],
      attributes: { 'http.response.status_code': 404, 'error.type': 'LM-2001' },
    })
    expect(traces.last.attributes).not.toHaveProperty('gen_ai.request.model')
  })

  test('answered from the cache has no call, and no tokens that a sum would count again', async () => {
    const { chat, upstream, traces } = await tracedGateway(cachedProvider())
    upstream.next(json(completion()))
    await chat(ask)
    await chat(ask)
    expect(traces.last).toMatchObject({ children: [], attributes: { 'gateway.cache_hit': true } })
    expect(Object.keys(traces.last.attributes).join()).not.toContain('usage')
  })

  test('with a path of its own has that path beside the documented one', async () => {
    const { get, upstream, traces } = await tracedGateway()
    upstream.next(json(completion()))
    const path = '/openai/deployments/m/chat/completions'
    await get(`${path}?api-version=1`, { method: 'POST', body: JSON.stringify(ask) })
    expect(traces.last.attributes).toMatchObject({
      'http.route': '/openai/deployments/{model}/chat/completions',
      'url.path': path,
    })
  })
})

describe('upstream calls', () => {
  test('of a retry are spans of their own, numbered from the second', async () => {
    const { chat, clock, upstream, traces } = await tracedGateway()
    upstream.next(json({}, { status: 503 }), broken(), json(completion()))
    const answer = chat(ask)
    await clock.advance(10_000)
    await answer
    const [first, second, third] = traces.last.children
    expect(first).toMatchObject({
      isError: true,
      attributes: { 'http.response.status_code': 503, 'error.type': '503' },
    })
    expect(first?.attributes).not.toHaveProperty('http.request.resend_count')
    expect(second).toMatchObject({
      isError: true,
      attributes: { 'error.type': 'ECONNREFUSED', 'http.request.resend_count': 1 },
    })
    expect(third).toMatchObject({ isError: false, attributes: { 'http.request.resend_count': 2 } })
    expect(traces.last).toMatchObject({ isError: false, attributes: { 'gateway.attempts': 3 } })
  })

  test('of a fallback name each its own upstream', async () => {
    const { chat, upstream, traces } = await tracedGateway(makeChain([{}, {}]))
    upstream.next(json({}, { status: 401 }), json(completion()))
    await chat(ask)
    expect(traces.last.children).toMatchObject([
      { isError: true, attributes: { 'server.address': 'p.test', 'gateway.model': 'm' } },
      { isError: false, attributes: { 'server.address': 'p2.test', 'gateway.model': 'm2' } },
    ])
    expect(traces.last.attributes).toMatchObject({
      'gen_ai.request.model': 'm',
      'gen_ai.response.model': 'm2',
      'gateway.provider': 'p2',
    })
  })

  test('that fail all make the request an error', async () => {
    const { chat, upstream, traces } = await tracedGateway(
      makeChain([{}], 'retry_max_attempts = 1'),
    )
    upstream.next(json({}, { status: 500 }))
    await chat(ask)
    expect(traces.last).toMatchObject({
      isError: true,
      attributes: { 'error.type': 'LM-3003', 'http.response.status_code': 502 },
    })
  })

  test('that take too long say which timeout ended them', async () => {
    const { chat, clock, upstream, traces } = await tracedGateway(
      makeChain([{ settings: 'first_token_timeout_ms = 50' }]),
    )
    upstream.next(silent())
    const answer = chat(ask)
    await clock.advance(50)
    await answer
    expect(traces.last.children).toMatchObject([
      { attributes: { 'error.type': 'timeout', 'gateway.timeout': 'first-token' } },
    ])
  })
})

describe('a stream', () => {
  test('lasts to its end in both spans, and both say when its content came', async () => {
    const { chat, clock, upstream, traces } = await tracedGateway()
    const live = new LiveUpstream()
    upstream.next(live.responder)
    const answer = chat(streamed())
    await clock.advance(250)
    live.push(role + hello)
    const reader = new StreamReader(await answer)
    await reader.next()
    expect(traces.all.map(({ ends }) => ends)).toEqual([0, 0])
    live.push(wholeStream.slice((role + hello).length))
    live.end()
    await reader.rest()
    await settled()
    expect(traces.all.map(({ ends }) => ends)).toEqual([1, 1])
    for (const { attributes } of traces.all) {
      expect(attributes).toMatchObject({ 'gen_ai.response.time_to_first_chunk': 0.25 })
    }
    expect(traces.last.attributes).toMatchObject({
      'gen_ai.request.stream': true,
      'gen_ai.usage.output_tokens': usage.completion_tokens,
    })
  })

  test('that fails after its first content is an error under the status 200', async () => {
    const { upstream, traces, ...gateway } = await tracedGateway()
    const failure = { kind: 'network', reason: 'ECONNRESET' } as const
    upstream.next(stream([role + hello], { failure }))
    await readStream(gateway)
    expect(traces.last).toMatchObject({
      isError: true,
      ends: 1,
      attributes: { 'http.response.status_code': 200, 'error.type': 'LM-3010' },
      children: [{ isError: true, ends: 1, attributes: { 'error.type': 'ECONNRESET' } }],
    })
  })

  test('whose client leaves is no error of anyone else', async () => {
    const { chat, upstream, traces } = await tracedGateway()
    const live = new LiveUpstream()
    upstream.next(live.responder)
    live.push(role + hello)
    const reader = new StreamReader(await chat(streamed()))
    await reader.next()
    await reader.leave()
    await settled()
    expect(traces.last).toMatchObject({
      isError: false,
      ends: 1,
      attributes: { 'error.type': 'LM-6001' },
      children: [{ isError: false, ends: 1, attributes: { 'error.type': 'client-cancelled' } }],
    })
  })

  test('that is replaced before its first content leaves a failed call behind', async () => {
    const { upstream, traces, ...gateway } = await tracedGateway(
      makeChain([{}, {}], 'retry_max_attempts = 1'),
    )
    upstream.next(stream([role]), stream([role + chunk({ content: 'Hi' })]), stream([wholeStream]))
    await readStream(gateway)
    expect(traces.last.children.map(({ isError, ends }) => [isError, ends])[0]).toEqual([true, 1])
  })
})

describe('a gateway', () => {
  test('hands its settings to the host, and closes the traces last', async () => {
    const config = `[telemetry]\notlp_endpoint = "http://c.test"\ntrace_sample_ratio = 0.5\n${oneProvider}`
    const { gateway, traces } = await tracedGateway(config)
    expect(traces.settings).toMatchObject({ endpoint: 'http://c.test', sampleRatio: 0.5 })
    await gateway.close(1_000)
    expect(traces.closed).toBe(1_000)
  })

  test('whose host has no destination traces nothing', async () => {
    const { chat, upstream } = await testGateway(oneProvider, { traces: async () => undefined })
    upstream.next(json(completion()))
    await chat(ask, { headers: { traceparent: 'from-client' } })
    expect(upstream.requests[0]?.headers).not.toHaveProperty('traceparent')
    expect(Object.isFrozen(noTrace)).toBe(true)
  })

  test('warns of an endpoint on a host that exports nothing', async () => {
    const { log } = await testGateway(
      `[telemetry]\notlp_endpoint = "http://c.test"\n${oneProvider}`,
      { traces: undefined },
    )
    expect(log.map(({ message }) => message).join()).toContain(
      'telemetry.otlp_endpoint has no effect',
    )
  })
})
