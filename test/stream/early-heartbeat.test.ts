import { describe, expect, test } from 'vitest'
import { done, hello, role, stop, usageChunk, wholeStream } from '../support/answers.ts'
import { byProvider, called, type LinkSettings, makeChain } from '../support/chain.ts'
import type { TestGateway } from '../support/gateway.ts'
import { keyedGateway, readSpend } from '../support/keyed-gateway.ts'
import { settled } from '../support/manual-clock.ts'
import { isPending } from '../support/pending.ts'
import { broken, LiveUpstream, silent, stream } from '../support/scripted-upstream.ts'
import { StreamReader, settlement, streamed, terminal } from '../support/stream-client.ts'
import { everyKind } from '../support/streams.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const ping = ': ping\n'
const finish = stop + usageChunk + done
const early = 'early_heartbeat_ms = 5000'
const oneLink = makeChain([{ settings: early }])

/** Sends a request and waits until its headers have come, for `wait` at most. */
async function begin(
  { get, clock }: Pick<TestGateway, 'get' | 'clock'>,
  body: object,
  { path = '/v1/chat/completions', wait = 5_000, headers = {}, signal }: BeginOptions = {},
): Promise<Response> {
  const response = get(path, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'x-request-id': 'fixed', ...headers },
    ...(signal && { signal }),
  })
  await clock.advance(wait)
  return response
}

interface BeginOptions {
  readonly path?: string
  readonly wait?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

describe('a streamed request without content', () => {
  test('gets its headers and a ping in time, then one at each heartbeat, then its answer', async () => {
    const gateway = await watchedGateway(oneLink)
    const live = new LiveUpstream()
    gateway.upstream.next(live.responder)
    live.push(role)
    const sent = gateway.chat(streamed())
    await gateway.clock.advance(4_999)
    expect(await isPending(sent)).toBe(true)
    await gateway.clock.advance(1)
    const response = await sent
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    const own = ['model-used', 'provider', 'attempts', 'dropped', 'cost']
    expect(own.map((name) => response.headers.get(`x-gateway-${name}`))).toEqual(
      own.map(() => null),
    )
    const reader = new StreamReader(response)
    expect(await reader.next()).toBe(ping)
    for (let beat = 0; beat < 2; beat++) {
      const next = reader.next()
      await gateway.clock.advance(14_999)
      expect(await isPending(next)).toBe(true)
      await gateway.clock.advance(1)
      expect(await next).toBe(ping)
    }
    live.push(hello)
    expect(await reader.next()).toBe(role + hello)
    const later = reader.next()
    await gateway.clock.advance(15_000)
    expect(await later).toBe(ping)
    live.push(finish)
    expect(await reader.rest()).toBe(finish)
    expect(settlement(gateway.log)).toMatchObject({ status: 200, model_used: 'm', ttft_ms: 35_000 })
    expect(await (await gateway.get('/metrics')).text()).toContain('gateway_streams_early_total 1')
  })

  test('is answered as always when content comes before', async () => {
    const gateway = await watchedGateway(oneLink)
    gateway.upstream.always(stream([wholeStream]))
    const response = await begin(gateway, streamed())
    expect(response.headers.get('x-gateway-model-used')).toBe('m')
    expect(await response.text()).toBe(wholeStream)
  })

  test('fails as always before the time', async () => {
    const gateway = await watchedGateway(makeChain([{ settings: early }], 'retry_max_attempts = 1'))
    gateway.upstream.always(broken())
    expect((await begin(gateway, streamed())).status).toBe(502)
  })

  test.each([
    ['no stream', oneLink, { stream: false }],
    ['no setting', makeChain([{}]), {}],
    ['off at the model', makeChain([{ settings: early, model: 'early_heartbeat_ms = 0' }]), {}],
  ])('waits with %s', async (_, config, more) => {
    const gateway = await watchedGateway(config)
    gateway.upstream.always(silent())
    const sent = gateway.chat(streamed(more))
    await gateway.clock.advance(100_000)
    expect(await isPending(sent)).toBe(true)
    await gateway.clock.advance(20_000)
    expect((await sent).status).toBe(504)
  })

  test('the shortest time of the chain counts, from the arrival', async () => {
    const config = makeChain(
      [{ settings: 'early_heartbeat_ms = 9000' }, { model: 'early_heartbeat_ms = 3000' }],
      'retry_max_attempts = 1',
    )
    const gateway = await watchedGateway(config)
    gateway.upstream.always(silent())
    const response = await begin(gateway, streamed(), { wait: 3_000 })
    expect(response.status).toBe(200)
    await response.body?.cancel()
    await settled()
    expect(settlement(gateway.log)).toMatchObject({ status: 499 })
  })
})

describe('after an early heartbeat', () => {
  const chain = (more = '') =>
    makeChain(
      [
        { settings: `${early}\nfirst_token_timeout_ms = 20000` },
        { settings: 'first_token_timeout_ms = 20000' },
      ],
      `retry_max_attempts = 1\n${more}`,
    )

  test('a fallback serves', async () => {
    const gateway = await watchedGateway(chain())
    byProvider(gateway.upstream, { p: silent(), p2: stream([wholeStream]) })
    const response = await begin(gateway, streamed())
    const text = response.text()
    await gateway.clock.advance(15_000)
    expect(await text).toBe(ping + wholeStream)
    expect(called(gateway.upstream)).toEqual(['p', 'p2'])
    expect(settlement(gateway.log)).toMatchObject({ status: 200, model_used: 'm2', attempts: 2 })
  })

  test('a retry serves', async () => {
    const gateway = await watchedGateway(
      makeChain(
        [{ settings: early }],
        'retry_max_attempts = 2\nretry_base_ms = 16000\nretry_max_ms = 16000',
      ),
    )
    gateway.upstream.next(broken())
    gateway.upstream.next(stream([wholeStream]))
    const text = (await begin(gateway, streamed())).text()
    await gateway.clock.advance(10_000)
    expect(await text).toBe(ping + wholeStream)
  })

  test('the error of the chain is the terminal frame, and the record has its status', async () => {
    const gateway = await watchedGateway(chain())
    byProvider(gateway.upstream, { p: silent(), p2: broken() })
    const text = (await begin(gateway, streamed())).text()
    await gateway.clock.advance(15_000)
    const frame = (await text).slice(ping.length)
    expect(JSON.parse(frame.slice('data: '.length))).toMatchObject({
      error: { code: 'LM-3004', request_id: 'fixed', type: 'upstream_error' },
    })
    expect(settlement(gateway.log)).toMatchObject({
      status: 503,
      error_code: 'LM-3004',
      attempts: 2,
    })
  })

  test('the total timeout and that of the client end the stream', async () => {
    for (const [headers, code] of [
      [{}, 'LM-3013'],
      [{ 'x-gateway-timeout-ms': '9000' }, 'LM-3013'],
    ] as const) {
      const gateway = await watchedGateway(
        makeChain([{ settings: early }], 'total_timeout_ms = 30000'),
      )
      gateway.upstream.always(silent())
      const text = (await begin(gateway, streamed(), { headers })).text()
      await gateway.clock.advance('x-gateway-timeout-ms' in headers ? 4_000 : 25_000)
      expect(await text).toContain(`"code":"${code}"`)
      expect(settlement(gateway.log)).toMatchObject({ status: 504, error_code: code })
    }
  })

  test('a drain ends it with its terminal frame', async () => {
    const gateway = await watchedGateway(oneLink)
    gateway.upstream.always(silent())
    const text = (await begin(gateway, streamed())).text()
    gateway.gateway.drain()
    expect(await text).toMatch(/^: ping\ndata: \{"error":/)
  })

  test('a client that leaves ends the upstream call and the request, by its signal and by its stream', async () => {
    for (const how of ['signal', 'stream']) {
      const gateway = await watchedGateway(oneLink)
      gateway.upstream.always(silent())
      const leaving = new AbortController()
      const response = await begin(gateway, streamed(), { signal: leaving.signal })
      const reader = new StreamReader(response)
      expect(await reader.next()).toBe(ping)
      if (how === 'signal') leaving.abort()
      else await reader.leave()
      await settled()
      expect(gateway.upstream.requests[0]?.signal.aborted).toBe(true)
      expect(settlement(gateway.log)).toMatchObject({ status: 499, error_code: 'LM-6001' })
      expect(gateway.clock.pending).toBe(0)
    }
  })

  test('a client that leaves while a link streams ends it, too', async () => {
    const gateway = await watchedGateway(oneLink)
    const live = new LiveUpstream()
    gateway.upstream.next(live.responder)
    const reader = new StreamReader(await begin(gateway, streamed()))
    expect(await reader.next()).toBe(ping)
    live.push(role + hello)
    expect(await reader.next()).toBe(role + hello)
    await reader.leave()
    await settled()
    expect(live.released).toBe('cancel')
    expect(settlement(gateway.log)).toMatchObject({ status: 499 })
  })

  test('a client that does not read gets no pings that accumulate', async () => {
    const gateway = await watchedGateway(oneLink)
    const live = new LiveUpstream()
    gateway.upstream.next(live.responder)
    const response = await begin(gateway, streamed())
    await gateway.clock.advance(100_000)
    live.push(wholeStream)
    live.end()
    const text = await response.text()
    expect(text.split(ping).length - 1).toBeLessThanOrEqual(3)
    expect(text.endsWith(wholeStream)).toBe(true)
  })

  test.each(everyKind)('%s do the same', async (_, streams) => {
    const options = { streams }
    const served = await watchedGateway(chain(), options)
    byProvider(served.upstream, { p: silent(), p2: stream([wholeStream]) })
    const text = (await begin(served, streamed())).text()
    await served.clock.advance(15_000)
    expect(await text).toBe(ping + wholeStream)
    const failed = await watchedGateway(chain(), options)
    failed.upstream.always(silent())
    const error = (await begin(failed, streamed())).text()
    await failed.clock.advance(60_000)
    expect(await error).toContain('"code":"LM-3011"')
    const left = await watchedGateway(chain(), options)
    left.upstream.always(silent())
    const reader = new StreamReader(await begin(left, streamed()))
    expect(await reader.next()).toBe(ping)
    await reader.leave()
    await settled()
    expect(settlement(left.log)).toMatchObject({ status: 499 })
  })

  test('a stream that fails after its content has its terminal frame', async () => {
    const gateway = await watchedGateway(oneLink)
    const live = new LiveUpstream()
    gateway.upstream.next(live.responder)
    const reader = new StreamReader(await begin(gateway, streamed()))
    live.push(role + hello)
    live.fail({ kind: 'network', reason: 'reset' })
    expect(await reader.rest()).toBe(
      ping +
        role +
        hello +
        terminal('provider p closed the connection in the middle of its answer'),
    )
    expect(settlement(gateway.log)).toMatchObject({ error_code: 'LM-3010' })
  })

  test('budgets and limits settle: what a link used when one served, and nothing when none did', async () => {
    const priced = makeChain(
      [{ settings: early, model: 'cost_per_1m_input = 1, cost_per_1m_output = 1' }],
      'retry_max_attempts = 1',
    )
    const gateway = await keyedGateway(priced)
    const key = await gateway.key({ budget_max: 1, max_parallel: 1 })
    const live = new LiveUpstream()
    gateway.upstream.next(live.responder)
    const served = await begin(gateway, streamed({ max_tokens: 5 }), { headers: key.headers })
    live.push(role + hello + finish)
    await served.text()
    expect(await readSpend(gateway, key.id)).toBeCloseTo(0.000011)
    gateway.upstream.next(silent())
    const failed = await begin(gateway, streamed({ max_tokens: 5 }), { headers: key.headers })
    await gateway.clock.advance(120_000)
    expect(await failed.text()).toContain('LM-3011')
    expect(await readSpend(gateway, key.id)).toBeCloseTo(0.000011)
    expect(await gateway.rows()).toMatchObject([
      { status: 200 },
      { status: 504, errorCode: 'LM-3011' },
    ])
  })
})

describe('the form of each API', () => {
  const messages = {
    model: 'm',
    max_tokens: 9,
    stream: true,
    messages: [{ role: 'user', content: 'Hi' }],
  }
  const responses = { model: 'm', stream: true, input: 'Hi', instructions: 'Be short' }
  const contents = { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }
  const gemini = '/v1beta/models/m:streamGenerateContent'
  const pingEvent = 'event: ping\ndata: {"type":"ping"}\n\n'

  /** Begins a request early, then lets all links fail or one serve. */
  async function run(
    path: string,
    body: object,
    live: string | undefined,
    link: LinkSettings = {},
  ) {
    const settings = `${early}\n${link.settings ?? ''}`
    const config = makeChain([{ ...link, settings }], 'retry_max_attempts = 1')
    const gateway = await watchedGateway(config)
    const upstream = new LiveUpstream()
    gateway.upstream.always(live === undefined ? silent() : upstream.responder)
    const response = await begin(gateway, body, { path })
    const reader = new StreamReader(response)
    const first = await reader.next()
    if (live === undefined) await gateway.clock.advance(120_000)
    else {
      upstream.push(live)
      upstream.end()
    }
    let rest = ''
    let isCut = false
    try {
      for (let next = await reader.next(); next !== undefined; next = await reader.next())
        rest += next
    } catch {
      isCut = true
    }
    return { first: first ?? '', rest, isCut }
  }

  const events = (text: string) =>
    text
      .split('\n\n')
      .filter((event) => event.includes('data: '))
      .map(
        (event) => JSON.parse(event.slice(event.indexOf('data: ') + 6)) as Record<string, unknown>,
      )

  test('messages: a ping, then the message or the error', async () => {
    const failed = await run('/v1/messages', messages, undefined)
    expect(failed.first).toBe(pingEvent)
    expect(failed.rest).toMatch(/^event: error\ndata: \{"type":"error","error":/)
    const served = await run('/v1/messages', messages, wholeStream)
    expect(served.first).toBe(pingEvent)
    expect(events(served.rest).map(({ type }) => type)).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ])
  })

  test('completions: the comment of chat completions', async () => {
    const failed = await run(
      '/v1/completions',
      { model: 'm', prompt: 'x', stream: true },
      undefined,
    )
    expect(failed.first).toBe(ping)
    expect(failed.rest).toContain('"code":"LM-3011"')
  })

  test('responses: the response is created, and then goes on or fails', async () => {
    const failed = await run('/v1/responses', responses, undefined, { kind: 'vllm' })
    const [created] = events(failed.first)
    expect(created).toMatchObject({
      type: 'response.created',
      sequence_number: 0,
      response: { status: 'in_progress', model: 'm', instructions: 'Be short', output: [] },
    })
    const begun = created?.['response']
    const { id } = begun as { readonly id: string }
    expect(events(failed.rest)).toMatchObject([
      {
        type: 'response.failed',
        sequence_number: 1,
        response: {
          id,
          status: 'failed',
          error: { message: expect.stringContaining('no content') },
        },
      },
    ])
    const served = await run('/v1/responses', responses, wholeStream, { kind: 'vllm' })
    const all = events(served.first + served.rest)
    expect(all.map(({ sequence_number: number }) => number)).toEqual(all.map((_, at) => at))
    expect(all.slice(0, 2).map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
    ])
    const ids = all.flatMap(({ response }) => (response ? [(response as { id: string }).id] : []))
    expect(new Set(ids).size).toBe(1)
    expect(all.at(-1)).toMatchObject({ type: 'response.completed' })
  })

  test('responses of an upstream that speaks the API: it is created once', async () => {
    const event = (type: string, sequence: number, members: object) =>
      `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence, ...members })}\n\n`
    const response = {
      id: 'resp_vendor',
      object: 'response',
      created_at: 1,
      model: 'x',
      output: [],
    }
    const native = [
      event('response.created', 0, { response: { ...response, status: 'in_progress' } }),
      event('response.in_progress', 1, { response: { ...response, status: 'in_progress' } }),
      event('response.output_text.delta', 2, {
        item_id: 'i',
        output_index: 0,
        content_index: 0,
        delta: 'Hi',
      }),
      event('response.completed', 3, {
        response: {
          ...response,
          status: 'completed',
          usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
        },
      }),
    ]
    const { first, rest } = await run('/v1/responses', responses, native.join(''), {
      settings: 'responses = true',
    })
    expect(events(first)).toMatchObject([{ type: 'response.created', sequence_number: 0 }])
    expect(rest).toBe(native.slice(1).join(''))
  })

  test('Gemini: white space, then the chunks or an error behind which the stream is cut', async () => {
    for (const [path, white] of [
      [`${gemini}?alt=sse`, '\n\n'],
      [gemini, '\n'],
    ] as const) {
      const failed = await run(path, contents, undefined)
      expect(failed.first).toBe(white)
      expect(failed.rest).toContain('LM_3011')
      expect(failed.isCut).toBe(true)
      const served = await run(path, contents, wholeStream)
      expect(served.first).toBe(white)
      expect(served.rest).toContain('"finishReason":"STOP"')
      if (path === gemini) expect(JSON.parse(served.first + served.rest)).toBeInstanceOf(Array)
    }
  })
})
