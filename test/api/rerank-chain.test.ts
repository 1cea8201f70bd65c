import { describe, expect, test } from 'vitest'
import { splitDocuments } from '../../src/data-plane/rerank/call.ts'
import { expectErrorShape } from '../support/contract.ts'
import { afterRetries } from '../support/embed-kinds.ts'
import { series } from '../support/exposition.ts'
import type { TestGateway } from '../support/gateway.ts'
import { settled } from '../support/manual-clock.ts'
import { otters, readOkBody, rerank, rerankConfig, scores } from '../support/rerank.ts'
import { broken, json, type Responder, silent } from '../support/scripted-upstream.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

/** A server that accepts 32 documents per call; its fallback is a vendor without that limit. */
const twoLinks = `
[resilience]
retry_max_attempts = 2
retry_base_ms = 100
circuit_failure_threshold = 2
[[providers]]
name = "first"
kind = "tei"
base_url = "http://first.test"
[[providers.models]]
id = "m"
capabilities = ["rerank"]
fallbacks = ["other"]
[[providers]]
name = "second"
kind = "cohere"
base_url = "http://second.test"
[[providers.models]]
id = "other"
capabilities = ["rerank"]
`

const alone = twoLinks.replace('fallbacks = ["other"]', '')

interface Sent {
  readonly query: string
  readonly texts?: readonly string[]
  readonly documents?: readonly string[]
  readonly passages?: readonly { readonly text: string }[]
}

/** Returns the documents of a call. */
function readDocuments({ body }: { readonly body?: Uint8Array | undefined }): readonly string[] {
  const sent = JSON.parse(new TextDecoder().decode(body)) as Sent
  return sent.texts ?? sent.documents ?? sent.passages?.map(({ text }) => text) ?? []
}

/** Answers in the format of the called vendor: document `dN` scores N. */
const numbered: Responder = (request) => {
  const found = readDocuments(request).map((text, index) => [index, Number(text.slice(1))] as const)
  const answer = request.url.endsWith('/v2/rerank')
    ? scores(found)
    : json(found.map(([index, score]) => ({ index, score })))
  return answer(request)
}

/** Answers like `numbered`, except for the call with this document. */
function except(text: string, responder: Responder): Responder {
  return (request) => (readDocuments(request).includes(text) ? responder : numbered)(request)
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => `d${index}`)

function called({ upstream }: TestGateway): string[] {
  return upstream.requests.map(({ url }) => new URL(url).hostname.replace('.test', ''))
}

describe('a request is split for a server that takes few documents', () => {
  test('the parts are merged into one ranking with the indexes of the request', async () => {
    const gateway = await watchedGateway(alone)
    gateway.upstream.always(numbered)
    const documents = numbers(70)
    const fields = { query: 'q', documents, top_n: 40, return_documents: true }
    const { results, usage } = await readOkBody(await rerank(gateway, fields))
    const best = numbers(70).map((_, index) => 69 - index)
    expect(results).toEqual(
      best.slice(0, 40).map((index) => ({
        index,
        relevance_score: index,
        document: { text: `d${index}` },
      })),
    )
    const sizes = gateway.upstream.requests.map((request) => readDocuments(request).length)
    expect(sizes).toEqual([32, 32, 6])
    // One unit for the request, not one per call.
    expect(usage).toMatchObject({ search_units: 1, estimated: true })
  })

  test.each([
    ['tei', 32, [32]],
    ['tei', 33, [32, 1]],
    ['nvidia', 512, [512]],
    ['nvidia', 513, [512, 1]],
    // Jina scores documents relative to each other, so they must stay together.
    ['jina', 3000, [3000]],
  ])('%s with %i documents', async (kind, count, sizes) => {
    const gateway = await watchedGateway(
      rerankConfig({ kind, provider: { base_url: 'http://p.test' } }),
    )
    gateway.upstream.always(json({}, { status: 400 }))
    await rerank(gateway, { query: 'q', documents: numbers(count) })
    const sent = gateway.upstream.requests.map((request) => readDocuments(request).length)
    expect(sent).toEqual(sizes)
  })

  test('every part is ranked in full, since it may hold the best documents', () => {
    const call = { model: 'm', query: 'q', topN: 2, returnDocuments: false }
    const split = (count: number) =>
      splitDocuments({ ...call, documents: numbers(count) }, { maxDocuments: 32 })
    expect(split(32).map((part) => part.call.topN)).toEqual([2])
    expect(split(33).map((part) => part.call.topN)).toEqual([undefined, undefined])
  })

  test('at most eight calls run at the same time', async () => {
    const gateway = await watchedGateway(alone)
    const waiting: (() => void)[] = []
    gateway.upstream.always(async (request) => {
      await new Promise<void>((resolve) => waiting.push(resolve))
      return numbered(request)
    })
    const answer = rerank(gateway, { query: 'q', documents: numbers(32 * 10) })
    await settled()
    expect(waiting).toHaveLength(8)
    while (waiting.length > 0) {
      // Last in, first out, so that the parts complete out of order.
      waiting.pop()?.()
      await settled()
    }
    const { results } = await readOkBody(await answer)
    expect(results.map(({ index }) => index)).toEqual([...numbers(320).keys()].reverse())
  })

  test('a failed part is retried alone', async () => {
    const gateway = await watchedGateway(alone)
    gateway.upstream.next(numbered, json({ error: 'busy' }, { status: 429 })).always(numbered)
    const answer = rerank(gateway, { query: 'q', documents: numbers(40) })
    const { results } = await readOkBody(await afterRetries(gateway, answer))
    expect(results).toHaveLength(40)
    const sizes = gateway.upstream.requests.map((request) => readDocuments(request).length)
    expect(sizes).toEqual([32, 8, 8])
  })

  test('a lost part moves the whole request to the fallback, with its own batch size', async () => {
    const gateway = await watchedGateway(twoLinks)
    gateway.upstream.always((request) => {
      const isFirst = request.url.startsWith('http://first.test')
      return (isFirst ? except('d33', broken()) : numbered)(request)
    })
    const answer = rerank(gateway, { query: 'q', documents: numbers(40) })
    const response = await afterRetries(gateway, answer)
    expect(response.headers.get('x-gateway-model-used')).toBe('other')
    expect(response.headers.get('x-gateway-provider')).toBe('second')
    const body = await readOkBody(response)
    expect(body.model).toBe('other')
    expect(body.results).toHaveLength(40)
    expect(readDocuments(gateway.upstream.requests.at(-1) ?? {})).toEqual(numbers(40))
    expect(called(gateway)).toEqual(['first', 'first', 'first', 'second'])
    const metrics = await (await gateway.get('/metrics')).text()
    expect(series(metrics, 'gateway_rerank_search_units_total')).toEqual([
      { labels: { model: 'other', provider: 'second' }, value: 1 },
    ])
  })
})

describe('failures are handled as for chat', () => {
  test('a refused credential moves to the fallback at once', async () => {
    const gateway = await watchedGateway(twoLinks)
    gateway.upstream.next(json({ error: 'key' }, { status: 401 })).always(numbered)
    const response = await rerank(gateway, { query: 'q', documents: numbers(2) })
    expect(response.status).toBe(200)
    expect(called(gateway)).toEqual(['first', 'second'])
  })

  test('a client error keeps its status and is not sent elsewhere', async () => {
    const gateway = await watchedGateway(twoLinks)
    const refusal = { error: 'inputs must be shorter', error_type: 'Validation' }
    gateway.upstream.next(json(refusal, { status: 422 }))
    const response = await rerank(gateway, otters)
    expect(response.status).toBe(422)
    const { code, message } = await expectErrorShape(response)
    expect(code).toBe('LM-3003')
    expect(message).toContain('inputs must be shorter')
    expect(called(gateway)).toEqual(['first'])
  })

  test('a chain whose links all fail is LM-3004', async () => {
    const gateway = await watchedGateway(twoLinks)
    gateway.upstream.always(json({}, { status: 500 }))
    const response = await afterRetries(gateway, rerank(gateway, otters))
    expect(response.status).toBe(503)
    expect((await expectErrorShape(response)).code).toBe('LM-3004')
    expect(called(gateway)).toEqual(['first', 'first', 'second', 'second'])
  })

  test('a silent server is abandoned after the first-token timeout', async () => {
    const gateway = await watchedGateway(`[server]\nfirst_token_timeout_ms = 1000\n${alone}`)
    gateway.upstream.always(silent())
    const answer = rerank(gateway, otters)
    await gateway.clock.advance(1000)
    const response = await answer
    expect(response.status).toBe(504)
    expect((await expectErrorShape(response)).code).toBe('LM-3011')
  })

  test('malformed answers open the circuit, and an open circuit makes no call', async () => {
    const gateway = await watchedGateway(alone)
    gateway.upstream.always(json({}))
    const first = rerank(gateway, otters)
    await gateway.clock.advance(1000)
    expect((await expectErrorShape(await first)).code).toBe('LM-3002')
    const second = await rerank(gateway, otters)
    expect(second.status).toBe(503)
    expect((await expectErrorShape(second)).code).toBe('LM-3020')
    expect(gateway.upstream.requests).toHaveLength(2)
  })

  test('a client that leaves ends all of its calls', async () => {
    const gateway = await watchedGateway(alone)
    gateway.upstream.always(silent())
    const leaving = new AbortController()
    const request = new Request('http://gateway.test/v1/rerank', {
      method: 'POST',
      body: JSON.stringify({ model: 'm', query: 'q', documents: numbers(70) }),
    })
    const answer = gateway.gateway.fetch(request, { signal: leaving.signal })
    await settled()
    expect(gateway.upstream.requests).toHaveLength(3)
    leaving.abort()
    expect((await answer).status).toBe(499)
    expect(gateway.upstream.requests.map(({ signal }) => signal.aborted)).toEqual([
      true,
      true,
      true,
    ])
  })
})
