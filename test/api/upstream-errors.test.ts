import { describe, expect, test } from 'vitest'
import { undecodableFailure } from '../../src/wire/content-coding.ts'
import { chunk, data, hello, role } from '../support/answers.ts'
import { awsEvent, awsException } from '../support/aws-event-stream.ts'
import { byProvider, called, type LinkSettings, makeChain } from '../support/chain.ts'
import { expectErrorShape } from '../support/contract.ts'
import { providerKey } from '../support/gateway.ts'
import {
  broken,
  json,
  type Responder,
  silent,
  stream,
  whole,
} from '../support/scripted-upstream.ts'
import { readStream, settlement, streamed } from '../support/stream-client.ts'
import { listUncovered } from '../support/translated-kinds.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const request = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }
const once = 'retry_max_attempts = 1\ncircuit_failure_threshold = 1000'
const utf8 = new TextEncoder()

async function errorFrom(
  links: readonly Responder[],
  settings: readonly LinkSettings[] = [{}, {}],
) {
  const gateway = await watchedGateway(makeChain(settings.slice(0, links.length), once))
  byProvider(
    gateway.upstream,
    Object.fromEntries(links.map((link, at) => [at === 0 ? 'p' : `p${at + 1}`, link])),
  )
  const pending = gateway.chat(request)
  await gateway.clock.advance(1_000_000)
  return expectErrorShape(await pending)
}

describe('an error includes the vendor’s own error', () => {
  const fastApi = [{ type: 'missing', loc: ['body', 'model'], msg: 'Field required' }]
  const rows: readonly (readonly [string, string, number, object, object])[] = [
    [
      'OpenAI’s',
      'openai',
      400,
      {
        error: {
          message: 'too long',
          type: 'invalid_request_error',
          param: 'messages',
          code: 'context_length_exceeded',
        },
      },
      {
        status: 400,
        code: 'context_length_exceeded',
        type: 'invalid_request_error',
        param: 'messages',
        message: 'too long',
      },
    ],
    [
      'Groq’s, with the output of the model',
      'groq',
      400,
      {
        error: {
          message: 'no call',
          type: 'invalid_request_error',
          code: 'tool_use_failed',
          failed_generation: '<f>{"a":',
        },
      },
      {
        status: 400,
        code: 'tool_use_failed',
        type: 'invalid_request_error',
        message: 'no call',
        details: { failed_generation: '<f>{"a":' },
      },
    ],
    [
      'Azure’s',
      'azure',
      400,
      {
        error: {
          message: 'filtered',
          code: 'content_filter',
          param: 'prompt',
          type: null,
          status: 400,
          innererror: { code: 'ResponsibleAIPolicyViolation' },
        },
      },
      {
        status: 400,
        code: 'content_filter',
        param: 'prompt',
        message: 'filtered',
        details: { innererror: { code: 'ResponsibleAIPolicyViolation' } },
      },
    ],
    [
      'vLLM’s older, flat format',
      'vllm',
      400,
      { object: 'error', message: 'bad', type: 'BadRequestError', param: null, code: 400 },
      { status: 400, code: 400, type: 'BadRequestError', message: 'bad' },
    ],
    [
      'Mistral’s validation error',
      'mistral',
      422,
      { detail: fastApi },
      { status: 422, message: 'body.model: Field required', details: { detail: fastApi } },
    ],
    ['a text', 'together', 500, { error: 'down' }, { status: 500, message: 'down' }],
    [
      'xAI’s',
      'xai',
      404,
      { code: 'not-found', error: 'no such model' },
      { status: 404, code: 'not-found', message: 'no such model' },
    ],
    [
      'Cloudflare’s list',
      'cloudflare',
      400,
      { success: false, errors: [{ code: 7003, message: 'no route' }], result: null },
      { status: 400, code: 7003, message: 'no route' },
    ],
    [
      'an RFC 9457 problem',
      'nvidia',
      400,
      { type: 'urn:x', title: 'Bad', status: 400, detail: 'no', requestId: 'r' },
      { status: 400, type: 'urn:x', message: 'Bad: no', details: { requestId: 'r' } },
    ],
    [
      'Anthropic’s',
      'anthropic',
      400,
      {
        type: 'error',
        error: { type: 'invalid_request_error', message: 'no', details: { error_code: 'e' } },
        request_id: 'req_1',
      },
      {
        status: 400,
        type: 'invalid_request_error',
        message: 'no',
        details: { details: { error_code: 'e' } },
      },
    ],
    [
      'Google’s',
      'google',
      429,
      { error: { code: 429, message: 'slow', status: 'RESOURCE_EXHAUSTED', details: [{ a: 1 }] } },
      {
        status: 429,
        code: 'RESOURCE_EXHAUSTED',
        message: 'slow',
        details: { details: [{ a: 1 }] },
      },
    ],
    [
      'Google’s in a list',
      'google',
      400,
      [{ error: { code: 400, message: 'no', status: 'INVALID_ARGUMENT' } }],
      { status: 400, code: 'INVALID_ARGUMENT', message: 'no' },
    ],
    [
      'Bedrock’s',
      'bedrock',
      400,
      { __type: 'com.amazon#ValidationException:http://internal', message: 'no' },
      { status: 400, type: 'ValidationException', message: 'no' },
    ],
    [
      'Cohere’s',
      'cohere',
      422,
      { message: 'no', id: 'e-1' },
      { status: 422, message: 'no', details: { id: 'e-1' } },
    ],
  ]

  test('every API of a translated kind has a row', () => {
    expect(listUncovered(rows.map(([, kind]) => kind))).toEqual([])
  })

  test.each(rows)('%s', async (_, kind, status, body, upstream) => {
    const error = await errorFrom([json(body, { status })], [{ kind }])
    expect(error.upstream).toEqual(upstream)
  })

  test.each([
    [
      'TEI’s for embeddings',
      'tei',
      'embed',
      '/v1/embeddings',
      { input: 'x' },
      { error: 'too long', error_type: 'Validation' },
      { status: 413, type: 'Validation', message: 'too long' },
    ],
    [
      'Pinecone’s for rerank',
      'pinecone',
      'rerank',
      '/v1/rerank',
      { query: 'q', documents: ['d'] },
      { error: { code: 'INVALID_ARGUMENT', message: 'no' }, status: 413 },
      { status: 413, code: 'INVALID_ARGUMENT', message: 'no' },
    ],
  ])('%s', async (_, kind, capability, path, fields, body, upstream) => {
    const config = makeChain([{ kind, model: `capabilities = ["${capability}"]` }])
    const gateway = await watchedGateway(config)
    gateway.upstream.always(json(body, { status: 413 }))
    const init = { method: 'POST', body: JSON.stringify({ model: 'm', ...fields }) }
    const error = await expectErrorShape(await gateway.get(path, init))
    expect(error.upstream).toEqual(upstream)
  })

  test('an answer without a readable error has its status', async () => {
    const error = await errorFrom([whole('<html>no</html>', { status: 502 })])
    expect(error.upstream).toEqual({ status: 502 })
  })

  test('an error inside a 200 is included', async () => {
    const body = { error: { message: 'boom', code: 'x' } }
    const error = await errorFrom([json(body)])
    expect(error).toMatchObject({ code: 'LM-3002', upstream: { code: 'x', message: 'boom' } })
  })

  test.each([
    ['a refused connection', broken()],
    ['silence', silent()],
    ['an answer that is not JSON', whole('nothing')],
  ])('it is absent when there is none: %s', async (_, responder) => {
    expect(await errorFrom([responder])).not.toHaveProperty('upstream')
  })

  test('a chain has the error of the last vendor that gave one', async () => {
    const serverError = (code: string) => json({ error: { message: code, code } }, { status: 500 })
    const links = [serverError('first'), serverError('second'), broken()]
    const error = await errorFrom(links, [{}, {}, {}])
    expect(error).toMatchObject({
      code: 'LM-3004',
      upstream: { status: 500, code: 'second', message: 'second' },
    })
  })

  test('a chain whose links are all rate limited has the last one', async () => {
    const busy = json({ error: { code: 'rate_limit_exceeded' } }, { status: 429 })
    expect(await errorFrom([busy, busy])).toMatchObject({
      code: 'LM-3001',
      upstream: { status: 429, code: 'rate_limit_exceeded' },
    })
  })
})

describe('a long error', () => {
  const item = { type: 'value_error', loc: ['body', 'messages'], msg: 'bad' }
  const long = (bytes: number) => 'y'.repeat(bytes)

  /** An error that arrives in pieces. */
  const pieces = (body: object, status: number) => {
    const text = JSON.stringify(body)
    const chunks = Array.from({ length: Math.ceil(text.length / 16_384) }, (_, at) =>
      text.slice(at * 16_384, (at + 1) * 16_384),
    )
    return stream(chunks, { status, headers: { 'content-type': 'application/json' } })
  }

  test.each([200_000, 900_000, 3_000_000])(
    'of a server that repeats the request keeps its members: %i bytes of input',
    async (bytes) => {
      const detail = [{ ...item, input: long(bytes), ctx: { reason: 'late' } }]
      const error = await errorFrom([pieces({ detail }, 422)])
      expect(error).toMatchObject({
        code: 'LM-3003',
        message: expect.stringMatching(/: body\.messages: bad$/),
        upstream: {
          status: 422,
          message: 'body.messages: bad',
          details: { detail: [{ ...item, input: expect.stringMatching(/^y{199}…$/) }] },
        },
      })
    },
  )

  test.each(['openai', 'anthropic', 'google', 'bedrock', 'cohere', 'mistral', 'vllm'])(
    'of kind %s keeps its members',
    async (kind) => {
      const error = {
        message: 'bad',
        type: 'invalid_request_error',
        code: 'c',
        echo: long(2_000_000),
      }
      const shown = await errorFrom([pieces({ error }, 400)], [{ kind }])
      expect(shown).toMatchObject({
        message: expect.stringMatching(/: bad$/),
        upstream: { status: 400, message: 'bad' },
      })
    },
  )

  test('that breaks off keeps what has arrived', async () => {
    const torn = JSON.stringify({ error: { code: 'c', message: 'not so long' } }).slice(0, -6)
    const error = await errorFrom([whole(torn, { status: 400 })])
    expect(error).toMatchObject({
      message: expect.stringMatching(/: not so l$/),
      upstream: { status: 400, code: 'c', message: 'not so l' },
    })
  })

  test('that is deeply nested keeps its status, and is not asked for again', async () => {
    const deep = `{"code":"c","a":${'['.repeat(30_000)}${']'.repeat(30_000)}}`
    const gateway = await watchedGateway(makeChain([{}]))
    gateway.upstream.always(whole(deep, { status: 400 }))
    const error = await expectErrorShape(await gateway.chat(request))
    expect(error).toMatchObject({ code: 'LM-3003', upstream: { status: 400, code: 'c' } })
    expect(gateway.upstream.requests).toHaveLength(1)
  })

  test('that only looks like JSON is a text', async () => {
    const error = await errorFrom([whole('[busy] ask again', { status: 400 })])
    expect(error.message).toMatch(/: \[busy\] ask again$/)
    expect(error.upstream).toEqual({ status: 400 })
  })
})

describe('an answer in a content coding that the gateway does not know', () => {
  const headers = { 'content-encoding': 'Compress' }
  const named = 'unsupported content-encoding \\"compress\\"'
  const bodies = {
    '/v1/chat/completions': request,
    '/v1/embeddings': { model: 'm', input: 'x' },
    '/v1/messages': { ...request, max_tokens: 5 },
  }

  test.each([
    ['JSON', 'application/json'],
    ['an event stream', 'text/event-stream'],
    ['a page', 'text/html'],
  ])('is LM-3002 that names the coding, whatever its type: %s', async (_, type) => {
    for (const [path, body] of Object.entries(bodies)) {
      for (const streams of [false, true]) {
        const model = 'capabilities = ["chat", "embed"]'
        const gateway = await watchedGateway(makeChain([{ model }], once))
        // As hosts answer: the body fails.
        const failure = undecodableFailure('compress')
        gateway.upstream.always(
          stream([], { headers: { ...headers, 'content-type': type }, failure }),
        )
        const sent = JSON.stringify({ ...body, ...(streams && { stream: true }) })
        const response = await gateway.get(path, { method: 'POST', body: sent })
        expect(await response.text(), path).toContain(named)
        expect(response.status).toBe(502)
      }
    }
  })

  test('keeps its status if that is an error', async () => {
    const error = await errorFrom([whole('x', { status: 404, headers })])
    expect(error).toMatchObject({ code: 'LM-3003', upstream: { status: 404 } })
  })
})

describe('an error frame after the start of a stream includes it too', () => {
  const rows: readonly (readonly [string, string, Responder, object])[] = [
    [
      'OpenAI’s',
      'openai',
      stream([role + hello + data({ error: { message: 'no', code: 'c', type: 't' } })]),
      { code: 'c', type: 't', message: 'no' },
    ],
    [
      'Anthropic’s',
      'anthropic',
      stream([
        'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}\n\n',
        'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"no"}}\n\n',
      ]),
      { type: 'overloaded_error', message: 'no' },
    ],
    [
      'Google’s',
      'google',
      stream([
        data({ candidates: [{ content: { parts: [{ text: 'Hi' }] } }] }),
        data({ error: { code: 503, message: 'no', status: 'UNAVAILABLE' } }),
      ]),
      { status: 503, code: 'UNAVAILABLE', message: 'no' },
    ],
    [
      'Bedrock’s',
      'bedrock',
      stream(
        [
          awsEvent('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Hi' } }),
          awsException('throttlingException', { message: 'no' }),
        ],
        { headers: { 'content-type': 'application/vnd.amazon.eventstream' } },
      ),
      { type: 'throttlingException', message: 'no' },
    ],
    [
      'Cohere’s',
      'cohere',
      stream([
        data({ type: 'content-delta', delta: { message: { content: { text: 'Hi' } } } }),
        data({ type: 'message-end', delta: { finish_reason: 'ERROR', error: 'no' } }),
      ]),
      { code: 'ERROR', message: 'no' },
    ],
  ]

  test('every API of a translated kind has a row', () => {
    expect(listUncovered(rows.map(([, kind]) => kind))).toEqual([])
  })

  test.each(rows)('%s', async (_, kind, responder, upstream) => {
    const gateway = await watchedGateway(makeChain([{ kind }], once))
    gateway.upstream.always(responder)
    const frames = (await readStream(gateway)).split('\n\n')
    const { error } = JSON.parse(frames.at(-2)?.replace('data: ', '') ?? '')
    expect(error).toMatchObject({ code: 'LM-3010', upstream })
  })
})

describe('the shown part of a vendor’s error', () => {
  test('credentials are masked, wherever they appear', async () => {
    const half = providerKey.slice(0, 18)
    const body = {
      error: {
        message: `key ${providerKey}`,
        code: providerKey,
        type: half,
        param: btoa(providerKey),
        metadata: { [providerKey]: [{ deep: `Bearer ${providerKey}` }], half },
      },
    }
    const gateway = await watchedGateway(makeChain([{}, {}], once))
    gateway.upstream.always(json(body, { status: 500 }))
    const text = await (await gateway.chat(request)).text()
    for (const secret of [providerKey, half, btoa(providerKey)]) expect(text).not.toContain(secret)
    expect(JSON.parse(text).error.upstream.details.metadata.half).toBe('***')
  })

  test.each([
    ['a long message', { message: 'x'.repeat(60_000) }],
    ['a long message of multi-byte characters', { message: '€'.repeat(20_000) }],
    ['a long code', { message: 'no', code: 'c'.repeat(10_000), type: 't'.repeat(10_000) }],
    ['a long detail', { message: 'no', failed_generation: '\u0001"'.repeat(10_000) }],
    [
      'many details',
      Object.fromEntries(Array.from({ length: 999 }, (_, at) => [`k${at}`, 'v'.repeat(20)])),
    ],
    ['all at once', { message: '€'.repeat(9000), a: '€'.repeat(9000), b: { c: '€'.repeat(9000) } }],
  ])('it is at most 4 KiB: %s', async (_, error) => {
    const shown = await errorFrom([json({ error }, { status: 400 })])
    const bytes = utf8.encode(JSON.stringify(shown.upstream)).length
    expect(bytes).toBeLessThanOrEqual(4096)
    expect(bytes).toBeGreaterThan(200)
  })

  test('a long detail is cut beside a short message', async () => {
    const error = { message: 'no', failed_generation: 'g'.repeat(9000) }
    const { upstream } = await errorFrom([json({ error }, { status: 400 })])
    expect(upstream).toMatchObject({
      details: { failed_generation: expect.stringMatching(/^g{2000,}…$/) },
    })
  })

  test('it is cut where it nests too deeply', async () => {
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`
    const body = `{"error":{"message":"no","deep":${deep}}}`
    const { upstream } = await errorFrom([whole(body, { status: 400 })])
    expect(JSON.stringify(upstream)).toBe(
      '{"status":400,"message":"no","details":{"deep":[[[[[[[["…"]]]]]]]]}}',
    )
  })
})

test('the cause that OpenRouter relays is in the message', async () => {
  const raw = JSON.stringify({ error: { message: 'context too long' } })
  const metadata = { raw, provider_name: 'OpenInference' }
  const body = { error: { code: 400, message: 'Provider returned error', metadata } }
  const error = await errorFrom([json(body, { status: 400 })], [{ kind: 'openrouter' }])
  expect(error.message).toBe(
    'provider p refused the request with status 400: Provider returned error (OpenInference): context too long',
  )
  expect(error.upstream).toMatchObject({ code: 400, details: { metadata } })
  const flagged = { message: 'flagged', metadata: { provider_name: 'Azure', reasons: ['x'] } }
  expect((await errorFrom([json({ error: flagged }, { status: 403 })])).message).toContain(
    ': flagged (Azure)',
  )
})

describe('a wait that the vendor requests', () => {
  const busy = (seconds: string, status = 429) =>
    json({ error: { message: 'slow' } }, { status, headers: { 'retry-after': seconds } })

  test.each([
    ['up to retry_after_max_ms is kept', '', '15', 3],
    ['above it is not', '', '15.001', 1],
    ['above a configured limit is not', 'retry_after_max_ms = 2000', '3', 1],
    ['is never kept with 0', 'retry_after_max_ms = 0', '1', 1],
  ])('%s', async (_, resilience, wait, calls) => {
    const gateway = await watchedGateway(makeChain([{}], resilience))
    gateway.upstream.always(busy(wait))
    const pending = gateway.chat(request)
    await gateway.clock.advance(100_000)
    const error = await expectErrorShape(await pending)
    expect(error).toMatchObject({ code: 'LM-3001', retry_after: Math.ceil(Number(wait)) })
    expect(gateway.upstream.requests).toHaveLength(calls)
  })

  test('a wait that is too long moves the request to the next link at once', async () => {
    const gateway = await watchedGateway(makeChain([{}, {}]))
    byProvider(gateway.upstream, { p: busy('16', 503), p2: stream([role + chunk({}, {}, 'stop')]) })
    const response = await gateway.chat(streamed())
    expect(response.headers.get('x-gateway-provider')).toBe('p2')
    expect(gateway.clock.elapsed()).toBe(0)
    await response.body?.cancel()
  })

  test.each([
    ['of a 503, with LM-3003', [busy('7', 503)], 'LM-3003', 7],
    ['of a 429 beside a server error', [busy('20'), broken()], 'LM-3004', 20],
    ['of a 503 beside a server error', [broken(), busy('20', 503)], 'LM-3004', 20],
    ['of the last of them', [busy('4'), busy('9')], 'LM-3001', 9],
    ['of the last that names one', [busy('4'), json({}, { status: 503 })], 'LM-3004', 4],
    ['of none, where none names one', [json({}, { status: 500 }), broken()], 'LM-3004', undefined],
    ['of no other status', [busy('5', 500)], 'LM-3003', undefined],
  ])('the wait is in the error of the chain: %s', async (_, links, code, wait) => {
    const error = await errorFrom(links)
    expect(error.code).toBe(code)
    expect(error.retry_after).toBe(wait)
  })
})

describe('a spent quota', () => {
  test.each([
    ['by its code', { message: 'pay', type: 'x', code: 'insufficient_quota' }],
    ['by its type', { message: 'pay', type: 'insufficient_quota', code: null }],
  ])('a spent quota is not retried, and the next link serves: %s', async (_, error) => {
    for (const responder of [json({ error }, { status: 429 }), stream([role + data({ error })])]) {
      const gateway = await watchedGateway(makeChain([{}, {}]))
      byProvider(gateway.upstream, {
        p: responder,
        p2: stream([role + hello + chunk({}, {}, 'stop')]),
      })
      const response = await gateway.chat(streamed())
      expect(called(gateway.upstream)).toEqual(['p', 'p2'])
      await response.body?.cancel()
    }
    const alone = await watchedGateway(makeChain([{}]))
    alone.upstream.always(json({ error }, { status: 429 }))
    expect(await expectErrorShape(await alone.chat(request))).toMatchObject({ code: 'LM-3003' })
    expect(settlement(alone.log)).toMatchObject({ attempts: 1, status: 502 })
  })
})
