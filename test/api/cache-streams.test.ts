import { describe, expect, test } from 'vitest'
import {
  chunk,
  completion,
  done,
  hello,
  makeChunk,
  role,
  stop,
  usage,
  usageChunk,
  wholeStream,
} from '../support/answers.ts'
import { cachedProvider, cacheHeaders, cacheOn } from '../support/cached.ts'
import { oneProvider } from '../support/gateway.ts'
import { keyedGateway } from '../support/keyed-gateway.ts'
import { settled } from '../support/manual-clock.ts'
import { json, LiveUpstream, stream } from '../support/scripted-upstream.ts'
import { includeUsage, readStream, StreamReader, streamed } from '../support/stream-client.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const config = `${cacheOn()}${oneProvider}cache = true\n`

describe('a repeated stream', () => {
  test('is sent again with the same frames, at once', async () => {
    const gateway = await watchedGateway(config)
    gateway.upstream.next(stream([role, hello, stop, usageChunk, done]))
    const first = await readStream(gateway)
    const response = await gateway.chat(streamed())
    expect(cacheHeaders(response)).toEqual(['hit', '0'])
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(response.headers.get('x-gateway-model-used')).toBe('m')
    const reader = new StreamReader(response)
    expect(await reader.next()).toBe(first)
    expect(await reader.next()).toBeUndefined()
    expect(gateway.upstream.requests).toHaveLength(1)
  })

  test('has no heartbeats of the first', async () => {
    const { chat, upstream, clock } = await watchedGateway(config)
    const live = new LiveUpstream()
    upstream.next(live.responder)
    const pending = chat(streamed())
    live.push(role + hello)
    const reader = new StreamReader(await pending)
    expect(await reader.next()).toBe(role + hello)
    const next = reader.next()
    await clock.advance(15_000)
    expect(await next).toBe(': ping\n')
    live.push(stop + usageChunk + done)
    await reader.rest()
    expect(await (await chat(streamed())).text()).toBe(wholeStream)
  })

  test('has the usage that the gateway added to the first', async () => {
    const gateway = await watchedGateway(config)
    gateway.upstream.next(stream([role, hello, stop, done]))
    const first = await readStream(gateway)
    expect(first).toContain('"estimated":true')
    expect(await readStream(gateway)).toBe(first)
  })

  test('is another request when it asks for usage, or is not streamed', async () => {
    const { chat, upstream } = await watchedGateway(config)
    upstream.always(stream([wholeStream]))
    await (await chat(streamed())).text()
    const asking = await chat(streamed(includeUsage))
    expect(cacheHeaders(asking)).toEqual(['miss'])
    await asking.text()
    upstream.always(json(completion()))
    expect(cacheHeaders(await chat({ ...streamed(), stream: false }))).toEqual(['miss'])
  })

  test('costs nothing, and its row has the time to the first token', async () => {
    const { key, chat, upstream, rows } = await keyedGateway(cachedProvider())
    const { headers } = await key({ budget_max: 1 })
    upstream.next(stream([wholeStream]))
    await (await chat(streamed(), { headers })).text()
    await (await chat(streamed(), { headers })).text()
    expect(await rows()).toMatchObject([
      { cacheHit: false, stream: true, tokensTotal: usage.total_tokens },
      { cacheHit: true, stream: true, tokensTotal: usage.total_tokens, cost: 0n, ttftMs: 0 },
    ])
  })
})

describe('a stream is not kept', () => {
  const finishOf = (index: number) =>
    makeChunk({ choices: [{ index, delta: {}, finish_reason: 'stop' }] })

  test.each([
    ['fails after its first content', stream([role, hello])],
    ['has no finish reason', stream([role, hello, usageChunk, done])],
    [
      'has a choice without a finish reason',
      stream([
        role,
        hello,
        chunk(
          { content: 'b' },
          { choices: [{ index: 1, delta: { content: 'b' }, finish_reason: null }] },
        ),
        stop,
        usageChunk,
        done,
      ]),
    ],
    [
      'is larger than max_entry_bytes',
      stream([role, chunk({ content: 'x'.repeat(5000) }), stop, usageChunk, done]),
    ],
  ])('when it %s', async (_, responder) => {
    const { chat, upstream } = await watchedGateway(
      `${cacheOn('max_entry_bytes = 4000')}${oneProvider}cache = true\n`,
    )
    upstream.always(responder)
    await (await chat(streamed())).text()
    const again = await chat(streamed())
    expect(cacheHeaders(again)).toEqual(['miss'])
    await again.text()
  })

  test('when it has several choices and ends without a terminator', async () => {
    const { chat, upstream } = await watchedGateway(
      config.replace('kind = "openai"', 'kind = "vllm"\nbase_url = "http://vllm.test/v1"'),
    )
    upstream.always(stream([role, hello, finishOf(0), usageChunk]))
    const ask = async (more: object) => {
      const response = await chat(streamed(more))
      await response.text()
      return response
    }
    await ask({ n: 2 })
    expect(cacheHeaders(await ask({ n: 2 }))).toEqual(['miss'])
  })

  test('when its client leaves before the end', async () => {
    const { chat, upstream } = await watchedGateway(config)
    const live = new LiveUpstream()
    upstream.next(live.responder)
    const pending = chat(streamed())
    live.push(role + hello)
    const reader = new StreamReader(await pending)
    await reader.next()
    await reader.leave()
    await settled()
    upstream.next(stream([wholeStream]))
    const again = await chat(streamed())
    expect(cacheHeaders(again)).toEqual(['miss'])
    await again.text()
  })
})

test('a running stream counts the bytes that it records', async () => {
  const { chat, upstream, gateway } = await watchedGateway(config)
  const live = new LiveUpstream()
  upstream.next(live.responder)
  const pending = chat(streamed())
  live.push(role + chunk({ content: 'x'.repeat(10_000) }))
  const reader = new StreamReader(await pending)
  await reader.next()
  expect(gateway.buffers.bytes).toBeGreaterThan(10_000)
  live.push(stop + usageChunk + done)
  await reader.rest()
})
