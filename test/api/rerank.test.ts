import { describe, expect, test } from 'vitest'
import { expectCommonHeaders, expectErrorShape } from '../support/contract.ts'
import { afterRetries } from '../support/embed-kinds.ts'
import { series } from '../support/exposition.ts'
import {
  otters,
  otterTokens,
  type RerankBody,
  readOkBody,
  rerank,
  rerankConfig,
  scores,
} from '../support/rerank.ts'
import { json, whole } from '../support/scripted-upstream.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const config = rerankConfig({ kind: 'cohere' })
const billed = (units: unknown) => ({ meta: { billed_units: { search_units: units } } })

const ranking = scores(
  [
    [0, 0.4],
    [2, 0.9],
    [1, 0.02],
  ],
  billed(1),
)

/** This many texts. */
const texts = (count: number) => Array.from({ length: count }, () => 'text')

test.each(['/v1/rerank', '/v2/rerank', '/rerank'])('%s ranks documents', async (path) => {
  const gateway = await watchedGateway(config)
  gateway.upstream.next(ranking)
  const response = await rerank(gateway, otters, path)
  expect(response.status).toBe(200)
  expectCommonHeaders(response)
  expect(response.headers.get('content-type')).toBe('application/json')
  expect(response.headers.get('x-gateway-model-used')).toBe('m')
  expect(response.headers.get('x-gateway-provider')).toBe('p')
  expect(await response.json()).toEqual({
    model: 'm',
    results: [
      { index: 2, relevance_score: 0.9 },
      { index: 0, relevance_score: 0.4 },
      { index: 1, relevance_score: 0.02 },
    ],
    usage: { search_units: 1, total_tokens: otterTokens, tokens_estimated: true },
  })
})

test('rerank accepts POST only', async () => {
  const gateway = await watchedGateway(config)
  const response = await gateway.get('/rerank')
  expect(response.status).toBe(405)
  expect(response.headers.get('allow')).toBe('POST')
})

test('documents with equal scores keep the order of the request', async () => {
  const gateway = await watchedGateway(config)
  gateway.upstream.next(
    scores([
      [2, 0.5],
      [1, -1],
      [0, 0.5],
    ]),
  )
  const { results } = await readOkBody(await rerank(gateway, otters))
  expect(results.map(({ index }) => index)).toEqual([0, 2, 1])
})

test('scores keep every digit, in any range', async () => {
  const gateway = await watchedGateway(config)
  const exact = [12.25, 0.1234567890123456, 1e-9, -7.5]
  gateway.upstream.next(scores(exact.map((score, index) => [index, score])))
  const { results } = await readOkBody(await rerank(gateway, { query: 'q', documents: texts(4) }))
  expect(results.map(({ relevance_score: score }) => score)).toEqual(exact)
})

test('a text outside ASCII is echoed unchanged and counted in bytes', async () => {
  const gateway = await watchedGateway(config)
  gateway.upstream.next(scores([[0, 0.5]]))
  const documents = ['Öttér 🦦']
  const fields = { query: '水獭', documents, return_documents: true }
  const { results, usage } = await readOkBody(await rerank(gateway, fields))
  expect(results[0]?.document).toEqual({ text: 'Öttér 🦦' })
  // The query has 6 bytes, the document 12.
  expect(usage).toMatchObject({ total_tokens: 2 + 3 })
})

test('an estimate counts the query once per document', async () => {
  const gateway = await watchedGateway(config)
  gateway.upstream.next(scores([[0, 0.5]]))
  const fields = { query: 'ten bytes!', documents: texts(250).map(() => 'six by') }
  const { usage } = await readOkBody(await rerank(gateway, fields))
  expect(usage).toMatchObject({ total_tokens: 250 * (3 + 2), tokens_estimated: true })
})

describe('search units', () => {
  test.each([
    [1, 1],
    [100, 1],
    [101, 2],
    [250, 3],
  ])(
    'without a reported count, %i documents are %i units, marked as estimated',
    async (count, units) => {
      const gateway = await watchedGateway(config)
      gateway.upstream.next(scores([[0, 0.5]]))
      const fields = { query: 'q', documents: texts(count) }
      const { usage } = await readOkBody(await rerank(gateway, fields))
      expect(usage).toMatchObject({ search_units: units, estimated: true })
    },
  )

  test('the upstream’s count wins, however many documents there are', async () => {
    const gateway = await watchedGateway(config)
    gateway.upstream.next(scores([[0, 0.5]], billed(7)))
    const { usage } = await readOkBody(await rerank(gateway, otters))
    expect(usage).toEqual({ search_units: 7, total_tokens: otterTokens, tokens_estimated: true })
  })

  test.each([-1, '1', null, 1e300])('%j is not a valid count', async (units) => {
    const gateway = await watchedGateway(config)
    gateway.upstream.next(scores([[0, 0.5]], billed(units)))
    const { usage } = await readOkBody(await rerank(gateway, otters))
    expect(usage).toMatchObject({ search_units: 1, estimated: true })
  })
})

test('the log and the metrics record tokens and search units', async () => {
  const gateway = await watchedGateway(config)
  gateway.upstream.next(ranking, scores([[0, 0.5]], billed(3)))
  await rerank(gateway, { ...otters, top_n: 3 })
  await rerank(gateway, { ...otters, top_n: 1 })
  expect(gateway.log.filter(({ message }) => message === 'request')[1]?.fields).toMatchObject({
    capability: 'rerank',
    api: 'rerank',
    model_used: 'm',
    status: 200,
    attempts: 1,
    tokens_in: otterTokens,
    tokens_out: 0,
    estimated: true,
    search_units: 3,
  })
  const metrics = await (await gateway.get('/metrics')).text()
  expect(series(metrics, 'gateway_rerank_search_units_total')).toEqual([
    { labels: { model: 'm', provider: 'p' }, value: 4 },
  ])
  expect(series(metrics, 'gateway_tokens_total')).toContainEqual({
    labels: {
      capability: 'rerank',
      model: 'm',
      provider: 'p',
      direction: 'input',
      estimated: 'true',
    },
    value: 2 * otterTokens,
  })
})

test('a refused request counts no search units', async () => {
  const gateway = await watchedGateway(config)
  gateway.upstream.next(json({ message: 'no' }, { status: 400 }))
  await rerank(gateway, otters)
  const metrics = await (await gateway.get('/metrics')).text()
  expect(series(metrics, 'gateway_rerank_search_units_total')).toEqual([])
})

describe('an answer that is not a ranking is retried, and then LM-3002', () => {
  test.each([
    ['no results', scores([])],
    ['an index beyond the list', scores([[3, 0.5]])],
    ['a negative index', scores([[-1, 0.5]])],
    ['an index that is not an integer', scores([[0.5, 0.5]])],
    [
      'a duplicate index',
      scores([
        [1, 0.5],
        [1, 0.4],
      ]),
    ],
    ['a score that is null', scores([[0, null]])],
    ['a score that is not a number', scores([[0, '0.5']])],
    [
      'a score beyond the range of a double',
      whole('{"results":[{"index":0,"relevance_score":1e999}]}'),
    ],
    ['NaN as Python writes it', whole('{"results":[{"index":0,"relevance_score":NaN}]}')],
    ['another shape', json({ data: [] })],
    ['text that is not JSON', whole('<html>')],
    ['nothing', whole('')],
  ])('%s', async (_, responder) => {
    const gateway = await watchedGateway(config)
    gateway.upstream.always(responder)
    const response = await afterRetries(gateway, rerank(gateway, otters))
    expect(response.status).toBe(502)
    expect((await expectErrorShape(response)).code).toBe('LM-3002')
    expect(gateway.upstream.requests).toHaveLength(3)
  })
})

test('a ranking that leaves documents out is accepted and logged', async () => {
  const gateway = await watchedGateway(config)
  gateway.upstream.next(scores([[1, 0.5]]), scores([[1, 0.5]]))
  const { results } = await readOkBody(await rerank(gateway, otters))
  expect(results).toEqual([{ index: 1, relevance_score: 0.5 }])
  await rerank(gateway, { ...otters, top_n: 1 })
  const notes = gateway.log.filter(({ message }) => message === 'fewer results than requested')
  expect(notes.map(({ fields }) => fields)).toEqual([
    { request_id: expect.any(String), model: 'm', provider: 'p', asked: 3, results: 1 },
  ])
  expect(JSON.stringify(gateway.log)).not.toContain('otter')
})

describe('the demo provider', () => {
  const demo =
    '[[providers]]\nname = "d"\nkind = "demo"\nmodels = [{ id = "m", capabilities = ["rerank"] }]'

  test('the demo provider ranks by shared words', async () => {
    const gateway = await watchedGateway(demo)
    const documents = ['tax law', 'what otters eat: fish', 'Otters!', 'OTTERS eat']
    const fields = { query: 'otters eat', documents, return_documents: true }
    const response = await rerank(gateway, fields)
    const { results, usage }: RerankBody = await readOkBody(response)
    expect(results.map(({ index }) => index)).toEqual([3, 1, 2, 0])
    expect(results[0]).toEqual({
      index: 3,
      relevance_score: expect.closeTo(1),
      document: { text: 'OTTERS eat' },
    })
    expect(results[3]?.relevance_score).toBe(0)
    expect(usage).toMatchObject({ search_units: 1, estimated: true, tokens_estimated: true })
  })

  test('the demo provider returns the requested number of results', async () => {
    const gateway = await watchedGateway(demo)
    const { results } = await readOkBody(await rerank(gateway, { ...otters, top_n: 1 }))
    expect(results.map(({ index }) => index)).toEqual([0])
  })
})
