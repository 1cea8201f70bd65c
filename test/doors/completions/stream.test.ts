import { describe, expect, test } from 'vitest'
import { done } from '../../support/answers.ts'
import { byProvider, makeChain } from '../../support/chain.ts'
import {
  complete,
  textChunk,
  textEvent,
  textUsage,
  textUsageEvent,
} from '../../support/completions.ts'
import { expectErrorShape } from '../../support/contract.ts'
import type { TestGateway } from '../../support/gateway.ts'
import { keyedGateway } from '../../support/keyed-gateway.ts'
import { json, LiveUpstream, stream } from '../../support/scripted-upstream.ts'
import { includeUsage, StreamReader, settlement, terminal } from '../../support/stream-client.ts'
import { watchedGateway } from '../../support/watched-gateway.ts'

const pieces = textChunk(' fo') + textChunk('ur') + textChunk('', 'stop')

async function readTexts(gateway: TestGateway, more: object = {}): Promise<string> {
  const init = { headers: { 'x-request-id': 'fixed' } }
  const response = await complete(gateway, { stream: true, ...more }, init)
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  return response.text()
}

test('the events of the upstream pass byte for byte', async () => {
  const gateway = await watchedGateway()
  const odd = ': comment\r\ndata:{"choices":[{"text":"é","index":1}]}\r\n\r\n'
  const sent = odd + pieces + textUsageEvent + done
  gateway.upstream.next(stream([sent]))
  expect(await readTexts(gateway, includeUsage)).toBe(sent)
  expect(settlement(gateway.log)).toMatchObject({
    api: 'completions',
    stream: true,
    tokens_in: 5,
    tokens_out: 2,
    estimated: false,
  })
})

describe('usage', () => {
  // The prompt `Two and two is` has 14 bytes, and the answer 5.
  const estimate = { prompt_tokens: 4, completion_tokens: 2, total_tokens: 6, estimated: true }

  test.each([
    ['asked for it', includeUsage, []],
    ['did not ask', {}, [{ index: 0, text: '', logprobs: null, finish_reason: null }]],
  ])('a missing count is estimated, for a client that %s', async (_, more, choices) => {
    const gateway = await watchedGateway()
    gateway.upstream.next(stream([pieces + done]))
    const added = textEvent({ choices, usage: estimate })
    expect(await readTexts(gateway, more)).toBe(pieces + added + done)
  })

  test('a stream without an identity gets a new one', async () => {
    const gateway = await watchedGateway()
    const bare = 'data: {"choices":[{"index":0,"text":"a","finish_reason":"stop"}]}\n\n'
    gateway.upstream.next(stream([bare + done]))
    const text = await readTexts(gateway)
    const added = JSON.parse(text.slice(`${bare}data: `.length, -done.length))
    expect(added).toMatchObject({ object: 'text_completion', model: 'm', created: 1_764_000_000 })
    expect(added.id).toMatch(/^cmpl-[0-9a-f]{32}$/)
  })

  test('with auth on the upstream is asked, and the client sees one empty choice', async () => {
    const gateway = await keyedGateway()
    const { headers } = await gateway.key()
    gateway.upstream.next(stream([pieces + textUsageEvent + done]))
    const response = await complete(gateway, { stream: true }, { headers })
    const empty = { index: 0, text: '', logprobs: null, finish_reason: null }
    const shown = textEvent({ choices: [empty], usage: textUsage })
    expect(await response.text()).toBe(pieces + shown + done)
    expect(gateway.upstream.body()).toMatchObject(includeUsage)
    expect(await gateway.rows()).toMatchObject([
      { capability: 'chat', api: 'completions', stream: true, tokensIn: 5, cost: 9_000n },
    ])
  })
})

describe('commit', () => {
  const twoLinks = makeChain([{}, {}], 'retry_max_attempts = 1')
  const role = textChunk('')

  test.each([
    ['ends', stream([role])],
    ['has an error event', stream([`${role}data: {"error":{"message":"overloaded"}}\n\n`])],
    ['is refused', json({}, { status: 500 })],
  ])('a stream that %s before its first text is replaced', async (_, failing) => {
    const gateway = await watchedGateway(twoLinks)
    byProvider(gateway.upstream, { p: failing, p2: stream([pieces + textUsageEvent + done]) })
    expect(await readTexts(gateway)).toBe(pieces + textUsageEvent + done)
    expect(settlement(gateway.log)).toMatchObject({ model_used: 'm2', attempts: 2 })
  })

  test('a stream that is cut after its first text ends with an error and without [DONE]', async () => {
    const gateway = await watchedGateway(twoLinks)
    gateway.upstream.next(stream([textChunk(' fo')]))
    expect(await readTexts(gateway)).toBe(
      textChunk(' fo') + terminal('the stream of provider p ended before it was complete'),
    )
    expect(settlement(gateway.log)).toMatchObject({
      status: 502,
      error_code: 'LM-3010',
      tokens_out: 1,
      estimated: true,
    })
  })

  test('a finish reason without a text is content', async () => {
    const gateway = await watchedGateway()
    gateway.upstream.next(stream([textChunk('', 'length') + textUsageEvent + done]))
    expect(await readTexts(gateway)).toBe(textChunk('', 'length') + textUsageEvent + done)
  })

  test('a failure of every link before the first text is an ordinary error', async () => {
    const gateway = await watchedGateway(twoLinks)
    gateway.upstream.always(stream([role]))
    const response = await complete(gateway, { stream: true })
    expect(response.status).toBe(502)
    expect(await expectErrorShape(response)).toMatchObject({ code: 'LM-3010' })
  })
})

test('a silent stream gets a comment', async () => {
  const gateway = await watchedGateway()
  const live = new LiveUpstream()
  gateway.upstream.next(live.responder)
  live.push(textChunk('a'))
  const reader = new StreamReader(await complete(gateway, { stream: true }))
  expect(await reader.next()).toBe(textChunk('a'))
  const next = reader.next()
  await gateway.clock.advance(15_000)
  expect(await next).toBe(': ping\n')
  live.push(textChunk('', 'stop') + textUsageEvent + done)
  expect(await reader.rest()).toBe(textChunk('', 'stop') + textUsageEvent + done)
})

test('a client that leaves ends the upstream call', async () => {
  const gateway = await watchedGateway()
  const live = new LiveUpstream()
  gateway.upstream.next(live.responder)
  live.push(textChunk('a'))
  const reader = new StreamReader(await complete(gateway, { stream: true }))
  await reader.next()
  await reader.leave()
  expect(live.released).toBe('cancel')
  expect(settlement(gateway.log)).toMatchObject({ status: 499, api: 'completions' })
})
