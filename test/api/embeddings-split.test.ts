import { describe, expect, test } from 'vitest'
import { expectErrorShape } from '../support/contract.ts'
import {
  embed,
  numbered,
  readItems,
  readOkBody,
  texts,
  twoLinks,
  vectors,
} from '../support/embed.ts'
import { afterRetries } from '../support/embed-kinds.ts'
import { type TestGateway, testGateway } from '../support/gateway.ts'
import { settled } from '../support/manual-clock.ts'
import { json, type Responder, silent } from '../support/scripted-upstream.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

/*
 * Cohere accepts 96 texts per call.
 */

/** The calls that each provider received. */
function calls({ upstream }: TestGateway): { first: number; second: number } {
  const first = upstream.requests.filter(({ url }) => url.startsWith('http://first.test')).length
  return { first, second: upstream.requests.length - first }
}

/** Answers like `numbered`, except for the call with this text. */
function except(text: string, responder: Responder): Responder {
  return (request) => (readItems(request).includes(text) ? responder : numbered)(request)
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => [index, 0.5])

test('results keep the order of the request, and token counts add up', async () => {
  const gateway = await watchedGateway(twoLinks)
  const waiting: (() => void)[] = []
  gateway.upstream.always(async (request) => {
    await new Promise<void>((resolve) => waiting.push(resolve))
    return numbered(request)
  })
  const answer = embed(gateway, { input: texts(250) })
  await settled()
  for (const resolve of waiting.reverse()) {
    resolve()
    await settled()
  }
  const { data, usage } = await readOkBody(await answer)
  expect(data.map(({ embedding }) => embedding)).toEqual(numbers(250))
  expect(data.map(({ index }) => index)).toEqual([...numbers(250).keys()])
  expect(usage).toEqual({ prompt_tokens: 250, total_tokens: 250 })
  expect(gateway.upstream.requests.map((request) => readItems(request).length)).toEqual([
    96, 96, 58,
  ])
})

test('at most eight calls run at the same time', async () => {
  const gateway = await watchedGateway(twoLinks)
  const waiting: (() => void)[] = []
  gateway.upstream.always(async (request) => {
    await new Promise<void>((resolve) => waiting.push(resolve))
    return numbered(request)
  })
  const answer = embed(gateway, { input: texts(96 * 10) })
  await settled()
  expect(waiting).toHaveLength(8)
  waiting.shift()?.()
  await settled()
  expect(waiting).toHaveLength(8)
  while (waiting.length > 0) {
    waiting.shift()?.()
    await settled()
  }
  expect((await readOkBody(await answer)).data).toHaveLength(960)
})

test('one part without a token count makes the sum an estimate', async () => {
  const gateway = await watchedGateway(twoLinks)
  gateway.upstream.always(except('t96', json({ embeddings: [[96, 0.5]] })))
  const { usage } = await readOkBody(await embed(gateway, { input: texts(97) }))
  expect(usage).toEqual({ prompt_tokens: 97, total_tokens: 97, estimated: true })
})

test('a batch is closed before it exceeds the token limit, and a large item goes alone', async () => {
  const gateway = await watchedGateway(
    '[[providers]]\nname = "p"\nkind = "mistral"\nbase_url = "http://p.test/v1"\n' +
      '[[providers.models]]\nid = "m"\ncapabilities = ["embed"]\n',
  )
  const sizes = [5000, 5000, 5000, 20_000, 1]
  gateway.upstream.always((request) => vectors(readItems(request).map(() => [1]))(request))
  await embed(gateway, { input: sizes.map((tokens) => 'abcd'.repeat(tokens)) })
  expect(gateway.upstream.requests.map((request) => readItems(request).length)).toEqual([
    2, 1, 1, 1,
  ])
})

describe('a part that fails', () => {
  test('a failed part is retried alone', async () => {
    const gateway = await watchedGateway(twoLinks)
    let failures = 0
    const fails: Responder = (request) =>
      failures++ === 0 ? json({}, { status: 500 })(request) : numbered(request)
    gateway.upstream.always(except('t96', fails))
    const response = await afterRetries(gateway, embed(gateway, { input: texts(200) }))
    expect((await readOkBody(response)).data.map(({ embedding }) => embedding)).toEqual(
      numbers(200),
    )
    expect(calls(gateway)).toEqual({ first: 4, second: 0 })
  })

  test('a part that keeps failing moves the whole request to the fallback, so all vectors are from one model', async () => {
    const gateway = await watchedGateway(twoLinks)
    gateway.upstream.always((request) =>
      request.url.startsWith('http://first.test')
        ? except('t96', json({}, { status: 500 }))(request)
        : numbered(request),
    )
    const response = await afterRetries(gateway, embed(gateway, { input: texts(200) }))
    expect(response.headers.get('x-gateway-model-used')).toBe('other')
    const { data, model } = await readOkBody(response)
    expect(model).toBe('other')
    expect(data.map(({ embedding }) => embedding)).toEqual(numbers(200))
    expect(calls(gateway)).toEqual({ first: 4, second: 1 })
    expect(readItems(gateway.upstream.requests[4] ?? never())).toEqual(texts(200))
  })

  test('a client error in one part ends the others at once, without a fallback', async () => {
    const gateway = await watchedGateway(twoLinks)
    gateway.upstream.always((request) =>
      readItems(request).includes('t0')
        ? json({ message: 'too long' }, { status: 400 })(request)
        : silent()(request),
    )
    const response = await embed(gateway, { input: texts(96 * 12) })
    expect(response.status).toBe(400)
    expect(await expectErrorShape(response)).toMatchObject({ code: 'LM-3003' })
    expect(gateway.upstream.requests).toHaveLength(8)
    expect(gateway.upstream.requests.filter(({ signal }) => signal.aborted)).toHaveLength(8)
  })

  test('every part counts for the circuit breaker', async () => {
    const config = `${twoLinks}`.replace(
      '[resilience]',
      '[resilience]\ncircuit_failure_threshold = 3',
    )
    const gateway = await watchedGateway(config)
    gateway.upstream.always((request) =>
      request.url.startsWith('http://first.test')
        ? json({}, { status: 500 })(request)
        : numbered(request),
    )
    const response = await embed(gateway, { input: texts(96 * 3) })
    expect(response.status).toBe(200)
    // The third failure opens the circuit, so no call is retried.
    expect(calls(gateway)).toEqual({ first: 3, second: 1 })
    const metrics = await (await gateway.get('/metrics')).text()
    expect(metrics).toContain('gateway_circuit_state{provider="first",model="m"} 1')
  })
})

test('the first part alone probes a half-open circuit; the others follow', async () => {
  const config = twoLinks.replace('[resilience]', '[resilience]\ncircuit_failure_threshold = 1')
  const gateway = await watchedGateway(config)
  gateway.upstream.next(json({}, { status: 500 })).always(numbered)
  await embed(gateway, { input: texts(1) })
  expect(calls(gateway)).toEqual({ first: 1, second: 1 })
  await gateway.clock.advance(30_000)
  const response = await embed(gateway, { input: texts(300) })
  expect(response.headers.get('x-gateway-model-used')).toBe('m')
  expect((await readOkBody(response)).data.map(({ embedding }) => embedding)).toEqual(numbers(300))
  expect(calls(gateway)).toEqual({ first: 5, second: 1 })
})

test('parts with vectors of different lengths are malformed', async () => {
  const gateway = await watchedGateway(twoLinks)
  gateway.upstream.always(except('t96', json({ embeddings: [[1, 2, 3]] })))
  const response = await embed(gateway, { input: texts(97) })
  expect(response.status).toBe(502)
  expect(await expectErrorShape(response)).toMatchObject({ code: 'LM-3002' })
})

test('a client that leaves ends all parts', async () => {
  const gateway = await testGateway(twoLinks)
  gateway.upstream.always(silent())
  const abort = new AbortController()
  const request = new Request('http://gateway.test/v1/embeddings', {
    method: 'POST',
    body: JSON.stringify({ model: 'm', input: texts(96 * 20) }),
    signal: abort.signal,
  })
  const answer = gateway.gateway.fetch(request)
  await settled()
  abort.abort()
  const response = await answer
  expect(response.status).toBe(499)
  expect(gateway.upstream.requests).toHaveLength(8)
  expect(gateway.upstream.requests.every(({ signal }) => signal.aborted)).toBe(true)
  expect(gateway.gateway.inFlight).toBe(0)
  expect(gateway.clock.pending).toBe(0)
})

test('the total timeout covers all parts together', async () => {
  const config = twoLinks.replace('[resilience]', '[resilience]\ntotal_timeout_ms = 1000')
  const gateway = await watchedGateway(config)
  gateway.upstream.always(except('t96', silent()))
  const answer = embed(gateway, { input: texts(200) })
  await gateway.clock.advance(1000)
  expect(await expectErrorShape(await answer)).toMatchObject({ code: 'LM-3013' })
})

function never(): never {
  throw new Error('no such call')
}
