import { describe, expect, test } from 'vitest'
import { completion, wholeStream } from '../support/answers.ts'
import { cacheHeaders, cacheOn } from '../support/cached.ts'
import { claudeMessage, claudeStream } from '../support/claude-answers.ts'
import { series } from '../support/exposition.ts'
import { keyedGateway } from '../support/keyed-gateway.ts'
import { json, type Responder, stream } from '../support/scripted-upstream.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const provider = (name: string, settings: string, model: string) => `
[[providers]]
name = "${name}"
api_key_env = "P_KEY"
${settings}
[[providers.models]]
id = "${model}"
cache = true
`

const claude = `${cacheOn()}${provider('p', 'kind = "anthropic"', 'm')}`

const whole = claudeMessage()
const streamed = claudeStream()

const ask = { model: 'm', max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }] }
const streamAsk = { ...ask, stream: true }

/** Returns the data of the events of a stream, without its terminator. */
async function readEvents(response: Response): Promise<Record<string, unknown>[]> {
  return (await response.text())
    .split('\n\n')
    .map((block) => block.replace(/^(?:event: .*\n)?data: /, ''))
    .filter((data) => data.startsWith('{'))
    .map((data) => JSON.parse(data))
}

describe('an answer of a translated link', () => {
  test('serves a stream after it was given whole', async () => {
    const { chat, upstream } = await watchedGateway(claude)
    upstream.next(whole)
    const { id, created } = (await (await chat(ask)).json()) as Record<string, unknown>
    const response = await chat(streamAsk)
    expect(cacheHeaders(response)).toEqual(['hit', '0'])
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    const head = { id, created, model: 'm', object: 'chat.completion.chunk' }
    const chunk = (delta: object, finish: string | null = null) => ({
      ...head,
      choices: [{ index: 0, delta, finish_reason: finish }],
    })
    expect(await readEvents(response)).toEqual([
      chunk({ role: 'assistant', content: '' }),
      chunk({ content: 'Hello' }),
      chunk({}, 'stop'),
      { ...chunk({}), usage: { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 } },
    ])
  })

  test('serves whole after it was streamed', async () => {
    const { chat, upstream } = await watchedGateway(claude)
    upstream.next(streamed)
    const [first] = await readEvents(await chat(streamAsk))
    const response = await chat(ask)
    expect(cacheHeaders(response)).toEqual(['hit', '0'])
    expect(response.headers.get('content-type')).toBe('application/json')
    const body = await response.text()
    expect(response.headers.get('content-length')).toBe(String(body.length))
    expect(JSON.parse(body)).toEqual({
      id: first?.['id'],
      object: 'chat.completion',
      created: first?.['created'],
      model: 'm',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hello' },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 },
    })
  })

  test('has the usage chunk that each stream asks for', async () => {
    const { chat, upstream } = await watchedGateway(claude)
    upstream.next(streamed)
    const lastChoices = async (more: object) => {
      const events = await readEvents(await chat({ ...streamAsk, ...more }))
      return events.at(-1)?.['choices']
    }
    const unrequested = [{ index: 0, delta: {}, finish_reason: null }]
    expect(await lastChoices({})).toEqual(unrequested)
    expect(await lastChoices({ stream_options: { include_usage: true } })).toEqual([])
    expect(await lastChoices({ stream_options: { include_usage: false } })).toEqual(unrequested)
    expect(upstream.requests).toHaveLength(1)
  })

  test('is sent again as it was in the form in which it was given', async () => {
    const { chat, upstream } = await watchedGateway(claude)
    upstream.next(streamed)
    const first = await (await chat(streamAsk)).text()
    expect(await (await chat(streamAsk)).text()).toBe(first)
  })

  test('replaces the older one of either form when a new one is asked for', async () => {
    const { chat, upstream } = await watchedGateway(claude)
    upstream.next(streamed, claudeMessage('New'))
    await (await chat(streamAsk)).text()
    await chat(ask, { headers: { 'x-gateway-cache': 'no-cache' } })
    const texts = await readEvents(await chat(streamAsk))
    expect(JSON.stringify(texts)).toContain('New')
    expect(upstream.requests).toHaveLength(2)
  })
})

describe('the other doors', () => {
  const openai = `${cacheOn()}${provider('p', 'kind = "openai"\nbase_url = "http://p.test/v1"', 'm')}`
  const doors = [
    { path: '/v1/messages', body: ask, last: 'message_stop' },
    { path: '/v1/responses', body: { model: 'm', input: 'Hi' }, last: 'response.completed' },
  ]

  test.each(doors)('$path: a whole answer serves a stream', async ({ path, body, last }) => {
    const { get, upstream } = await watchedGateway(openai)
    upstream.next(json(completion()))
    const send = (more: object) =>
      get(path, { method: 'POST', body: JSON.stringify({ ...body, ...more }) })
    const { id } = (await (await send({})).json()) as { id: string }
    const response = await send({ stream: true })
    expect(cacheHeaders(response)).toEqual(['hit', '0'])
    const events = await readEvents(response)
    expect(events.at(-1)?.['type']).toBe(last)
    expect(JSON.stringify(events[0])).toContain(id)
  })

  test.each(doors)('$path: a stream serves a whole answer', async ({ path, body }) => {
    const { get, upstream } = await watchedGateway(openai)
    upstream.next(stream([wholeStream]))
    const send = (more: object) =>
      get(path, { method: 'POST', body: JSON.stringify({ ...body, ...more }) })
    const text = await (await send({ stream: true })).text()
    const response = await send({})
    expect(cacheHeaders(response)).toEqual(['hit', '0'])
    const answer = (await response.json()) as { id: string }
    expect(text).toContain(answer.id)
    expect(answer).toMatchObject({ usage: { output_tokens: 2 } })
  })
})

describe('a chain with verbatim and translated links', () => {
  const mixed = `${cacheOn()}[resilience]
retry_max_attempts = 1
${provider('claude', 'kind = "anthropic"', 'fallback')}
${provider('p', 'kind = "openai"', 'm')}fallbacks = ["fallback"]
`
  const down: Responder = json({}, { status: 500 })

  test('keeps the forms of a verbatim answer apart', async () => {
    const { chat, upstream } = await watchedGateway(mixed)
    upstream.next(json(completion()), stream([wholeStream]))
    await chat(ask)
    const streaming = await chat(streamAsk)
    expect(cacheHeaders(streaming)).toEqual(['miss'])
    await streaming.text()
    expect([
      cacheHeaders(await chat(ask)),
      cacheHeaders(await chat(streamAsk)),
      upstream.requests.length,
    ]).toEqual([['hit', '0'], ['hit', '0'], 2])
  })

  test('gives an answer of the fallback in both forms', async () => {
    const { chat, upstream } = await watchedGateway(mixed)
    upstream.next(down, whole)
    await chat(ask)
    const response = await chat(streamAsk)
    expect(cacheHeaders(response)).toEqual(['hit', '0'])
    expect(response.headers.get('x-gateway-model-used')).toBe('fallback')
  })

  test('gives an answer in the form of the request first', async () => {
    const { chat, upstream } = await watchedGateway(mixed)
    upstream.next(stream([wholeStream]), down, whole)
    const first = await (await chat(streamAsk)).text()
    const fromFallback = await (await chat(ask)).text()
    expect(await (await chat(streamAsk)).text()).toBe(first)
    expect(await (await chat(ask)).text()).toBe(fromFallback)
  })

  test('gives the newest answer in the form in which it was asked for', async () => {
    const { chat, upstream } = await watchedGateway(mixed)
    upstream.next(json(completion('old')), down, whole)
    await chat(ask)
    const fresh = await chat(ask, { headers: { 'x-gateway-cache': 'no-cache' } })
    expect(await (await chat(ask)).text()).toBe(await fresh.text())
  })
})

test('an answer that is given in another form is charged and recorded as a hit', async () => {
  const { key, chat, upstream, rows } = await keyedGateway(
    `${cacheOn()}${provider('p', 'kind = "anthropic"', 'm')}cost_per_1m_input = 1\ncost_per_1m_output = 2\n`,
  )
  const { headers } = await key({ rpm_limit: 2 })
  upstream.next(streamed)
  await (await chat(streamAsk, { headers })).text()
  expect((await chat(ask, { headers })).headers.get('x-gateway-cost')).toBe('0')
  expect((await chat(ask, { headers })).status).toBe(429)
  expect(await rows()).toMatchObject([
    { cacheHit: false, stream: true, tokensTotal: 11 },
    { cacheHit: true, stream: false, tokensTotal: 11, cost: 0n, attempts: 0 },
    { status: 429 },
  ])
})

test('an answer counts with its size as it was given, whatever form is asked for', async () => {
  const { chat, upstream, get } = await watchedGateway(claude)
  upstream.next(streamed)
  const { length } = await (await chat(streamAsk)).text()
  for (const body of [ask, streamAsk, { ...streamAsk, stream_options: { include_usage: true } }]) {
    await (await chat(body)).text()
  }
  const text = await (await get('/metrics')).text()
  expect(series(text, 'gateway_cache_entries')).toEqual([{ labels: {}, value: 1 }])
  expect(series(text, 'gateway_cache_bytes')).toEqual([{ labels: {}, value: length + 1024 + 2 }])
})
