import { describe, expect, test } from 'vitest'
import type { UpstreamFailure } from '../../src/core/failure.ts'
import {
  chunk,
  completion,
  data,
  done,
  hello,
  makeChunk,
  role,
  stop,
  wholeStream,
} from '../support/answers.ts'
import { expectCommonHeaders, expectErrorShape } from '../support/contract.ts'
import { series } from '../support/exposition.ts'
import { oneProvider, providerKey, type TestGateway } from '../support/gateway.ts'
import { settled } from '../support/manual-clock.ts'
import { isPending } from '../support/pending.ts'
import { pieces } from '../support/pieces.ts'
import {
  broken,
  json,
  LiveUpstream,
  type Responder,
  silent,
  stream,
  whole,
} from '../support/scripted-upstream.ts'
import {
  readStream,
  StreamReader,
  settlement,
  streamed,
  terminal,
} from '../support/stream-client.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const reset: UpstreamFailure = { kind: 'network', reason: 'ECONNRESET' }
const endedEarly = terminal('the stream of provider p ended before it was complete')
const estimate = makeChunk({
  choices: [{ index: 0, delta: {}, finish_reason: null }],
  usage: { prompt_tokens: 8, completion_tokens: 2, total_tokens: 10, estimated: true },
})
const onceOnly = `[resilience]\nretry_max_attempts = 1\n${oneProvider}`
const perplexity = oneProvider.replace('kind = "openai"', 'kind = "perplexity"')

describe('the terminator', () => {
  test.each([
    ['in the text', chunk({ content: 'data: [DONE]\n\n' })],
    ['as the whole text', chunk({ content: '[DONE]' })],
    ['in a comment', `: [DONE]\n: data: [DONE]\n${chunk({})}`],
    ['in another field', `event: [DONE]\nid: [DONE]\nnote: data: [DONE]\n${chunk({})}`],
    ['on a later line of the data', 'data: {"choices":[]}\ndata: [DONE]\n\n'],
    ['after other text', 'data: x [DONE]\n\n'],
    ['without its bracket', 'data: [DONE\n\n'],
    ['in lower case', 'data: [done]\n\n'],
  ])('%s is not the terminator', async (_, frame) => {
    const gateway = await watchedGateway()
    gateway.upstream.next(stream([role + hello + frame + wholeStream]))
    expect(await readStream(gateway)).toBe(role + hello + frame + wholeStream)
  })

  test.each([
    ': [DONE]\n\n: data: [DONE]\n\n',
    'event: [DONE]\nid: [DONE]\nnote: data: [DONE]\n\n',
  ])('%j is dropped, and not the terminator', async (frame) => {
    const gateway = await watchedGateway()
    gateway.upstream.next(stream([role + hello + frame + wholeStream]))
    expect(await readStream(gateway)).toBe(role + hello + wholeStream)
  })

  test.each([
    'data:[DONE]\n\n',
    'data: [DONE] \n\n',
    'data: [DONE] bye\n\n',
    'event: end\ndata: [DONE]\n\n',
  ])('the terminator may be written %j', async (end) => {
    const gateway = await watchedGateway()
    gateway.upstream.next(stream([role + hello + end]))
    expect(await readStream(gateway)).toBe(role + hello + estimate + end)
  })

  test('the terminator ends the answer although the upstream keeps its connection, which is reused', async () => {
    const { chat, upstream, log } = await watchedGateway()
    const live = new LiveUpstream()
    upstream.next(live.responder)
    live.push(wholeStream)
    const reader = new StreamReader(await chat(streamed()))
    expect(await reader.rest()).toBe(wholeStream)
    expect(live.released).toBe('drain')
    live.push('data: {"choices":[{"delta":{"content":"late"}}]}\n\n')
    live.fail(reset)
    await settled()
    expect(settlement(log)).toMatchObject({ status: 200, tokens_in: 9 })
  })

  test('everything after the terminator is discarded, in the same chunk or a later one', async () => {
    const gateway = await watchedGateway()
    gateway.upstream.next(stream([`${wholeStream}${hello}${done}noise`]))
    expect(await readStream(gateway)).toBe(wholeStream)
  })

  test('a reset after the terminator is a success', async () => {
    const gateway = await watchedGateway()
    gateway.upstream.next(stream([wholeStream], { failure: reset }))
    expect(await readStream(gateway)).toBe(wholeStream)
    expect(settlement(gateway.log)).toMatchObject({ status: 200 })
  })

  test('perplexity: the gateway adds the terminator at a clean end after a finish reason', async () => {
    const gateway = await watchedGateway(perplexity)
    gateway.upstream.next(stream([role + hello + stop]))
    expect(await readStream(gateway)).toBe(role + hello + stop + estimate + done)
    expect(settlement(gateway.log)).toMatchObject({ status: 200 })
  })

  test('a profile decides whether [DONE] may be missing', async () => {
    const gateway = await watchedGateway(
      oneProvider.replace(
        'kind = "openai"',
        'kind = "openai"\nprofile = { stream_end = "finish" }',
      ),
    )
    gateway.upstream.next(stream([role + hello + stop]))
    expect(await readStream(gateway)).toBe(role + hello + stop + estimate + done)
  })

  test('where only [DONE] is missing the error names the setting, and the circuit stays closed', async () => {
    const gateway = await watchedGateway(
      `[resilience]\ncircuit_failure_threshold = 1\n${oneProvider}`,
    )
    gateway.upstream.next(stream([role + hello + stop]), stream([role + hello + stop + done]))
    expect(await readStream(gateway)).toContain(
      'ended after its finish reason, but without [DONE]; if its streams always do, set stream_end = \\"finish\\" in the profile',
    )
    expect(await readStream(gateway)).toContain(done)
  })

  test('perplexity: an end without a finish reason is a failure', async () => {
    const gateway = await watchedGateway(perplexity)
    gateway.upstream.next(stream([role + hello]))
    expect(await readStream(gateway)).toBe(role + hello + endedEarly)
  })

  test('perplexity: an end while a started choice is unfinished is a failure', async () => {
    const gateway = await watchedGateway(perplexity)
    const second = (fields: object) => makeChunk({ choices: [{ index: 1, ...fields }] })
    const word = second({ delta: { content: 'Hello' }, finish_reason: null })
    const end = second({ delta: {}, finish_reason: 'stop' })
    gateway.upstream.next(
      stream([role + hello + word + stop]),
      stream([role + hello + stop + word]),
      stream([role + hello + word + stop + end + chunk({ content: '' })]),
    )
    for (const complete of [false, false, true]) {
      const text = await readStream(gateway, { n: 2 })
      expect([text.endsWith(done), text.includes('LM-3010')]).toEqual([complete, !complete])
    }
  })

  test('perplexity: a broken connection is a failure', async () => {
    const gateway = await watchedGateway(perplexity)
    gateway.upstream.next(stream([role + hello + stop], { failure: reset }))
    expect(await readStream(gateway)).toContain('"code":"LM-3010"')
  })
})

describe('a stream that ends with [DONE] and without a finish reason', () => {
  const unfinished = async ({ get }: TestGateway) =>
    series(await (await get('/metrics')).text(), 'gateway_streams_unfinished_total')
  const warnings = ({ log }: TestGateway) => log.filter(({ level }) => level === 'warn')

  test('such a stream passes, leaves a warning and is counted', async () => {
    const gateway = await watchedGateway()
    gateway.upstream.next(stream([role + hello + done]))
    expect(await readStream(gateway)).toBe(role + hello + estimate + done)
    expect(warnings(gateway)).toEqual([
      {
        level: 'warn',
        message: 'a stream has ended without a finish reason: it may be cut off',
        fields: { request_id: 'fixed', model: 'm', provider: 'p' },
      },
    ])
    expect(await unfinished(gateway)).toEqual([{ labels: { model: 'm', provider: 'p' }, value: 1 }])
    expect(settlement(gateway.log)).toMatchObject({ status: 200 })
  })

  test.each([
    ['with a finish reason', wholeStream],
    ['that breaks off', role + hello],
    [
      'with one finished choice',
      `${role}${hello}${makeChunk({ choices: [{ index: 1, delta: { content: 'a' } }] })}${stop}${done}`,
    ],
  ])('a stream %s is not such a stream', async (_, sent) => {
    const gateway = await watchedGateway()
    gateway.upstream.next(stream([sent]))
    await readStream(gateway)
    expect(await unfinished(gateway)).toEqual([])
    const others = warnings(gateway).map(({ message }) => message)
    expect(others.filter((message) => message.includes('finish reason'))).toEqual([])
  })
})

/** Returns whether a stream that begins with this frame and then stays silent is committed. */
const opening = async (frame: string, kept = frame) => {
  const gateway = await watchedGateway()
  const live = new LiveUpstream()
  gateway.upstream.next(live.responder).always(stream([wholeStream]))
  const response = gateway.chat(streamed())
  live.push(frame)
  const committed = !(await isPending(response))
  live.push(stop + done)
  const shown = await (await response).text()
  expect(shown.startsWith(kept + stop)).toBe(true)
  return committed
}

describe('the first content commits a stream', () => {
  test.each([
    ['text', { content: 'x' }],
    ['white space', { content: ' ' }],
    ['text as an array of parts', { content: [{ type: 'text', text: 'x' }] }],
    ['reasoning_content', { content: null, reasoning_content: 'x' }],
    ['reasoning', { reasoning: 'x' }],
    ['reasoning_details', { reasoning_details: [{ type: 'reasoning.text', text: 'x' }] }],
    ['a refusal', { refusal: 'no' }],
    [
      'a tool call',
      { tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: '' } }] },
    ],
    ['a function call', { function_call: { name: 'f', arguments: '' } }],
    ['audio', { audio: { id: 'a', data: 'AAAA' } }],
  ])('%s', async (_, delta) => expect(await opening(chunk(delta))).toBe(true))

  test('a finish reason commits', async () => {
    expect(await opening(chunk({}, {}, 'content_filter'))).toBe(true)
  })

  test('content of a later choice commits', async () => {
    const choices = [
      { index: 0, delta: {} },
      { index: 1, delta: { content: 'x' } },
    ]
    expect(await opening(makeChunk({ choices }))).toBe(true)
  })

  test.each([
    ['a role', role],
    ['a role without content', chunk({ role: 'assistant' })],
    ['null content', chunk({ role: 'assistant', content: null, refusal: null, tool_calls: null })],
    ['an empty array of parts', chunk({ content: [] })],
    ['empty tool calls', chunk({ content: '', tool_calls: [] })],
    ['no choices', makeChunk({ choices: [] })],
    ['a choice without a delta', makeChunk({ choices: [{ index: 0, finish_reason: null }] })],
    ['null as a choice', makeChunk({ choices: [null] })],
    ['usage', makeChunk({ choices: [], usage: { prompt_tokens: 1, total_tokens: 1 } })],
    ['a filter report', makeChunk({ choices: [], prompt_filter_results: [{ prompt_index: 0 }] })],
    ['comments before an event', `: ping\n: OPENROUTER PROCESSING\n:\n${role}`],
    ['data that is not JSON', 'data: hello\n\n'],
    ['data that is not an object', 'data: "text"\n\ndata: 7\n\ndata: null\n\n'],
    ['an event of an unknown type', 'event: metadata\ndata: {"a":1}\n\n'],
  ])('%s does not commit', async (_, frame) => expect(await opening(frame)).toBe(false))

  test.each([
    ['comments', ': ping\n\n: OPENROUTER PROCESSING\n\n:\n\n'],
    ['blank lines', '\n\n\n'],
    ['events without data', 'event: ping\n\ndata:\n\ndata: \n\n'],
  ])('%s do not commit, and are dropped', async (_, frame) =>
    expect(await opening(frame, '')).toBe(false),
  )
})

describe('before the commit', () => {
  const deaths: readonly (readonly [string, Responder])[] = [
    ['an empty stream', stream([])],
    ['a role and the end', stream([role])],
    ['a role and a reset', stream([role], { failure: reset })],
    ['comments and the end', stream([': ping\n\n: ping\n\n'])],
    ['a terminator and nothing else', stream([done])],
    [
      'a role, usage and a terminator',
      stream([role + makeChunk({ choices: [], usage: {} }) + done]),
    ],
    ['a filter report and a terminator', stream([makeChunk({ choices: [] }) + done])],
    ['half a content frame', stream([role + hello.slice(0, 40)])],
    [
      'an error frame',
      stream([role + data({ error: { message: 'boom', code: 500 } }) + hello + done]),
    ],
    ['an error frame and a terminator', stream([data({ error: { message: 'boom' } }) + done])],
    ['an error event', stream(['event: error\ndata: boom\n\n'])],
    ['an error object', stream([data({ object: 'error', message: 'boom' })])],
    ['a detail without choices', stream([data({ detail: 'boom' })])],
    ['JSON without an answer in place of an event stream', json({ choices: [] })],
    [
      'HTML in place of an event stream',
      whole('<html>', { headers: { 'content-type': 'text/html' } }),
    ],
    [
      'a stream of another type',
      stream([wholeStream], { headers: { 'content-type': 'text/event-streams' } }),
    ],
    ['status 204', whole('', { status: 204, headers: { 'content-type': 'text/event-stream' } })],
    ['status 503', json({ error: { message: 'busy' } }, { status: 503 })],
    ['a refused connection', broken()],
  ]

  test.each(deaths)(
    '%s leads to a second attempt, and the client sees nothing of the first',
    async (_, death) => {
      const gateway = await watchedGateway()
      gateway.upstream.next(death, stream([wholeStream]))
      const shown = readStream(gateway)
      await gateway.clock.advance(200)
      expect(await shown).toBe(wholeStream)
      expect(settlement(gateway.log)).toMatchObject({ status: 200, attempts: 2 })
    },
  )

  test('a terminator without content fails the attempt at once, even if the connection stays open', async () => {
    const gateway = await watchedGateway()
    const live = new LiveUpstream()
    gateway.upstream.next(live.responder, stream([wholeStream]))
    live.push(role + done)
    const shown = readStream(gateway)
    await gateway.clock.advance(200)
    expect(await shown).toBe(wholeStream)
    expect(gateway.upstream.requests[0]?.signal.aborted).toBe(true)
  })

  test('nothing is sent, neither headers nor a ping, however long it takes', async () => {
    const { chat, upstream, clock } = await watchedGateway()
    const live = new LiveUpstream()
    upstream.next(live.responder)
    const response = chat(streamed())
    live.push(role)
    await clock.advance(119_000)
    expect(await isPending(response)).toBe(true)
    live.push(hello + stop + done)
    expect(await (await response).text()).toBe(role + hello + stop + estimate + done)
  })

  test.each([
    ['a code of 400', { message: 'bad image', code: 400 }, 400, 'LM-3003'],
    ['a code as a string', { message: 'bad image', code: '422' }, 422, 'LM-3003'],
    ['a status', { message: 'bad image', status: 415 }, 415, 'LM-3003'],
    ['an http_status_code', { message: 'too long', http_status_code: 422 }, 422, 'LM-3003'],
    [
      'the type invalid_request_error',
      { message: 'bad image', type: 'invalid_request_error' },
      400,
      'LM-3003',
    ],
  ])(
    'an error frame that blames the request with %s is returned at once',
    async (_, error, status, code) => {
      const { chat, upstream, log } = await watchedGateway()
      upstream.next(stream([role + data({ error })]))
      const response = await chat(streamed())
      expect(response.status).toBe(status)
      const body = await expectErrorShape(response)
      expect(body).toMatchObject({ code, type: 'upstream_error' })
      expect(body.message).toContain(error.message)
      expect(settlement(log)).toMatchObject({ status, error_code: code, attempts: 1 })
    },
  )

  test.each([
    ['429', { message: 'slow down', code: 429 }, 429, 'LM-3001', 3],
    ['rate_limit_error', { message: 'slow down', type: 'rate_limit_error' }, 429, 'LM-3001', 3],
    [
      'rate_limit_exceeded',
      { message: 'slow down', code: 'rate_limit_exceeded' },
      429,
      'LM-3001',
      3,
    ],
    ['408', { message: 'timeout', code: 408 }, 504, 'LM-3005', 3],
    ['401', { message: 'no', code: 401 }, 502, 'LM-3003', 1],
    ['402', { message: 'no', code: 402 }, 502, 'LM-3003', 1],
    ['403', { message: 'no', code: 403 }, 502, 'LM-3003', 1],
    ['invalid_api_key', { message: 'no', code: 'invalid_api_key' }, 502, 'LM-3003', 1],
    ['500', { message: 'boom', code: 500 }, 502, 'LM-3010', 3],
    ['a code that is not a status', { message: 'boom', code: 'server_error' }, 502, 'LM-3010', 3],
    ['a code with a fraction', { message: 'boom', code: 400.5 }, 502, 'LM-3010', 3],
    ['no code', { message: 'boom' }, 502, 'LM-3010', 3],
  ])('an error frame with %s counts as that status', async (_, error, status, code, attempts) => {
    const { chat, upstream, clock, log } = await watchedGateway()
    upstream.always(stream([role + data({ error }) + done]))
    const pending = chat(streamed())
    await clock.advance(1000)
    const response = await pending
    expect(response.status).toBe(status)
    expect(await expectErrorShape(response)).toMatchObject({ code })
    expect(settlement(log)).toMatchObject({ error_code: code, attempts })
  })

  test('links that open a stream and bring no content end as LM-3010 in plain JSON', async () => {
    const { chat, upstream, clock, log } = await watchedGateway()
    upstream.always(stream([role + done]))
    const pending = chat(streamed())
    await clock.advance(1000)
    const response = await pending
    expect(response.status).toBe(502)
    expect(response.headers.get('x-should-retry')).toBe('false')
    expect(response.headers.get('x-gateway-model-used')).toBeNull()
    expect(await expectErrorShape(response)).toMatchObject({
      code: 'LM-3010',
      type: 'upstream_error',
    })
    expect(settlement(log)).toMatchObject({ status: 502, error_code: 'LM-3010', attempts: 3 })
  })

  test('an upstream that sends comments forever is cut off, and nothing is buffered', async () => {
    const { chat, upstream } = await watchedGateway(onceOnly)
    const megabyte = bytes(`: ${'x'.repeat(2 ** 20)}\n\n`)
    upstream.next(pieces(Array<Uint8Array>(10).fill(megabyte).concat(bytes(wholeStream))))
    const error = await expectErrorShape(await chat(streamed()))
    expect(error).toMatchObject({ code: 'LM-3002' })
  })

  test('a line of 20 MB is cut off, and not buffered', async () => {
    const { chat, upstream } = await watchedGateway(onceOnly)
    const megabyte = bytes('x'.repeat(2 ** 20))
    const line = Array<Uint8Array>(20).fill(megabyte)
    upstream.next(pieces([bytes(`${role}data: `), ...line, bytes(`\n\n${wholeStream}`)]))
    const error = await expectErrorShape(await chat(streamed()))
    expect(error).toMatchObject({ code: 'LM-3002' })
  })

  test('a line of 10 MB is ordinary content', async () => {
    const gateway = await watchedGateway(onceOnly)
    const long = chunk({ content: 'x'.repeat(10 * 2 ** 20) })
    gateway.upstream.next(pieces([bytes(long), bytes(stop + done)]))
    const shown = await readStream(gateway)
    expect(shown.startsWith(long)).toBe(true)
    expect(settlement(gateway.log)).toMatchObject({ tokens_out: (10 * 2 ** 20) / 4 })
  })
})

describe('the first-token timeout', () => {
  test.each([
    ['no answer', silent()],
    ['headers only', new LiveUpstream().responder],
  ])('%s: 504 LM-3011', async (_, responder) => {
    const { chat, upstream, clock, log } = await watchedGateway()
    upstream.next(responder)
    const pending = chat(streamed())
    await clock.advance(119_999)
    expect(await isPending(pending)).toBe(true)
    await clock.advance(1)
    const response = await pending
    expect(response.status).toBe(504)
    expect(await expectErrorShape(response)).toMatchObject({
      code: 'LM-3011',
      type: 'upstream_error',
    })
    expect(settlement(log)).toMatchObject({ status: 504, latency_ms: 120_000, attempts: 1 })
  })

  test('comments, roles and usage do not reset it', async () => {
    const { chat, upstream, clock } = await watchedGateway()
    const live = new LiveUpstream()
    upstream.next(live.responder)
    const pending = chat(streamed())
    for (let second = 0; second < 120; second++) {
      live.push(`: keep-alive\n\n${role}`)
      await clock.advance(1000)
    }
    expect((await pending).status).toBe(504)
  })

  test('it ends with the first content, and later silence is allowed', async () => {
    const { chat, upstream, clock } = await watchedGateway(
      `[server]\nsse_heartbeat_ms = 0\n${oneProvider}`,
    )
    const live = new LiveUpstream()
    upstream.next(live.responder)
    live.push(role + hello)
    const reader = new StreamReader(await chat(streamed()))
    expect(await reader.next()).toBe(role + hello)
    await clock.advance(500_000)
    live.push(stop + done)
    expect(await reader.rest()).toBe(stop + estimate + done)
  })

  test('a provider may set its own', async () => {
    const { chat, upstream, clock } = await watchedGateway(
      oneProvider.replace('kind = "openai"', 'kind = "openai"\nfirst_token_timeout_ms = 50'),
    )
    upstream.next(silent())
    const pending = chat(streamed())
    await clock.advance(50)
    expect((await pending).status).toBe(504)
  })
})

/** A stream whose first content the client has read. */
const commit = async (gateway: TestGateway, live = new LiveUpstream()) => {
  gateway.upstream.next(live.responder)
  live.push(role + hello)
  const response = await gateway.chat(streamed(), { headers: { 'x-request-id': 'fixed' } })
  const reader = new StreamReader(response)
  expect(await reader.next()).toBe(role + hello)
  return { live, reader, response }
}

describe('after the commit', () => {
  const deaths: readonly (readonly [string, (live: LiveUpstream) => void, string])[] = [
    ['a clean end', (live) => live.end(), endedEarly],
    [
      'a reset',
      (live) => live.fail(reset),
      terminal('provider p closed the connection in the middle of its answer (ECONNRESET)'),
    ],
    [
      'half a frame and the end',
      (live) => {
        live.push(hello.slice(0, 60))
        live.end()
      },
      endedEarly,
    ],
    [
      'half a frame and a reset',
      (live) => {
        live.push(hello.slice(0, 60))
        live.fail(reset)
      },
      terminal('provider p closed the connection in the middle of its answer (ECONNRESET)'),
    ],
    [
      'an error frame',
      (live) => live.push(data({ error: { message: 'boom', code: 500 } })),
      terminal('provider p reported an error in its stream: boom', {
        upstream: { status: 500, code: 500, message: 'boom' },
      }),
    ],
    [
      'an error frame and a terminator',
      (live) => live.push(data({ error: 'boom' }) + done),
      terminal('provider p reported an error in its stream: boom', {
        upstream: { message: 'boom' },
      }),
    ],
    [
      'an error frame that blames the request',
      (live) => live.push(data({ error: { message: 'too long', code: 400 } })),
      terminal('provider p refused the request with status 400: too long', {
        upstream: { status: 400, code: 400, message: 'too long' },
      }),
    ],
  ]

  test.each(deaths)(
    '%s: one terminal frame LM-3010, no terminator, no second attempt',
    async (_, die, frame) => {
      const gateway = await watchedGateway()
      const { live, reader } = await commit(gateway)
      die(live)
      expect(await reader.rest()).toBe(frame)
      expect(gateway.upstream.requests).toHaveLength(1)
      expect(settlement(gateway.log)).toMatchObject({
        status: 502,
        error_code: 'LM-3010',
        attempts: 1,
        model_used: 'm',
        tokens_in: 8,
        tokens_out: 2,
        estimated: true,
      })
    },
  )

  test.each(deaths)(
    '%s in the same chunk as the content: the content is shown first',
    async (_, die, frame) => {
      const gateway = await watchedGateway()
      const live = new LiveUpstream(64 * 2 ** 20)
      gateway.upstream.next(live.responder)
      live.push(role + hello)
      die(live)
      expect(await readStream(gateway)).toBe(role + hello + frame)
    },
  )

  test('a line of 20 MB is cut off, and not buffered', async () => {
    const gateway = await watchedGateway()
    const megabyte = bytes('x'.repeat(2 ** 20))
    const line = Array<Uint8Array>(20).fill(megabyte)
    gateway.upstream.next(pieces([bytes(role + hello), bytes('data: '), ...line]))
    expect(await readStream(gateway)).toBe(
      role +
        hello +
        terminal('provider p sent a malformed answer: an event of the stream is too long'),
    )
  })

  test('the total timeout ends the stream with LM-3013', async () => {
    const gateway = await watchedGateway(`[server]\nsse_heartbeat_ms = 0\n${oneProvider}`)
    const { live, reader } = await commit(gateway)
    const rest = reader.rest()
    await gateway.clock.advance(599_999)
    expect(await isPending(rest)).toBe(true)
    await gateway.clock.advance(1)
    expect(await rest).toBe(
      terminal('the request took longer than total_timeout_ms', { code: 'LM-3013' }),
    )
    expect(live.released).toBe('cancel')
    expect(settlement(gateway.log)).toMatchObject({ status: 504, error_code: 'LM-3013' })
  })

  test('the total timeout runs from the arrival, and ends a stream that never falls silent', async () => {
    const gateway = await watchedGateway(
      oneProvider.replace('kind = "openai"', 'kind = "openai"\ntotal_timeout_ms = 10000'),
    )
    const live = new LiveUpstream()
    gateway.upstream.next(live.responder)
    const response = gateway.chat(streamed(), { headers: { 'x-request-id': 'fixed' } })
    await gateway.clock.advance(6000)
    live.push(hello)
    const rest = new StreamReader(await response).rest()
    for (let second = 0; second < 4; second++) {
      await gateway.clock.advance(1000)
      live.push(hello)
    }
    const shown = await rest
    expect(shown.startsWith(hello.repeat(4))).toBe(true)
    expect(
      shown.endsWith(
        terminal('the request took longer than total_timeout_ms', { code: 'LM-3013' }),
      ),
    ).toBe(true)
  })

  test('the total timeout ends a stream that is not read', async () => {
    const gateway = await watchedGateway()
    const live = new LiveUpstream()
    gateway.upstream.next(live.responder)
    live.push(role + hello)
    const response = await gateway.chat(streamed(), { headers: { 'x-request-id': 'fixed' } })
    await gateway.clock.advance(600_000)
    expect(live.released).toBe('cancel')
    expect(gateway.gateway.inFlight).toBe(0)
    expect(await response.text()).toBe(
      role + hello + terminal('the request took longer than total_timeout_ms', { code: 'LM-3013' }),
    )
  })

  test('a shutdown ends the stream with a terminal frame', async () => {
    const gateway = await watchedGateway()
    const { live, reader } = await commit(gateway)
    gateway.gateway.drain()
    expect(await reader.rest()).toBe(terminal('the gateway is shutting down'))
    expect(live.released).toBe('cancel')
    expect(settlement(gateway.log)).toMatchObject({ status: 502, tokens_out: 2 })
  })

  test('a shutdown before the commit is answered in plain JSON, and does not count against the provider', async () => {
    const gateway = await watchedGateway(
      `[resilience]\ncircuit_failure_threshold = 1\n${oneProvider}`,
    )
    gateway.upstream.next(silent())
    const pending = gateway.chat(streamed())
    expect(await isPending(pending)).toBe(true)
    gateway.gateway.drain()
    const response = await pending
    expect(response.status).toBe(502)
    expect(await expectErrorShape(response)).toMatchObject({ code: 'LM-3010' })
    gateway.upstream.next(json(completion()))
    const next = await gateway.chat({ model: 'm', messages: [{ role: 'user' }] })
    expect(next.status).toBe(200)
  })

  test('usage reported before the failure is charged', async () => {
    const gateway = await watchedGateway()
    const { live, reader } = await commit(gateway)
    live.push(
      chunk(
        { content: '!' },
        { usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 } },
      ),
    )
    live.end()
    await reader.rest()
    expect(settlement(gateway.log)).toMatchObject({ tokens_in: 7, tokens_out: 3, estimated: false })
  })

  test('a provider key in the text of an error frame is masked', async () => {
    const gateway = await watchedGateway()
    const { live, reader } = await commit(gateway)
    live.push(data({ error: { message: `key ${providerKey} is over its quota` } }))
    const shown = await reader.rest()
    const message = 'key *** is over its quota'
    expect(shown).toBe(
      terminal(`provider p reported an error in its stream: ${message}`, { upstream: { message } }),
    )
  })

  test('the answer has the common headers and those of a stream', async () => {
    const gateway = await watchedGateway()
    const { reader, response, live } = await commit(gateway)
    expectCommonHeaders(response)
    expect(response.headers.get('x-request-id')).toBe('fixed')
    expect(response.headers.get('x-gateway-model-used')).toBe('m')
    expect(response.headers.get('x-gateway-provider')).toBe('p')
    expect(response.headers.get('cache-control')).toBe('no-cache')
    expect(response.headers.get('content-length')).toBeNull()
    live.push(done)
    await reader.rest()
  })
})

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}
