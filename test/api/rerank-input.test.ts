import { describe, expect, test } from 'vitest'
import { expectErrorShape } from '../support/contract.ts'
import { otters, readOkBody, rerank, rerankConfig, scores } from '../support/rerank.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const config = rerankConfig({ kind: 'cohere', model: { upstream_id: 'rerank-v3.5' } })

/** Returns the upstream body of a request that was served. */
async function sent(fields: object): Promise<unknown> {
  const gateway = await watchedGateway(config)
  gateway.upstream.next(scores([[0, 0.5]]))
  const response = await rerank(gateway, { query: 'q', ...fields })
  expect(response.status).toBe(200)
  return gateway.upstream.body()
}

describe('documents are reduced to text', () => {
  test.each([
    ['a string is its own text', ['a'], undefined, ['a']],
    ['an object is its text', [{ text: 'a', id: 7 }, 'b'], undefined, ['a', 'b']],
    ['null for rank_fields counts as absent', [{ text: 'a' }], null, ['a']],
    ['an empty rank_fields counts as absent', [{ text: 'a' }], [], ['a']],
    ['the fields in the order of rank_fields', [{ x: '1', y: '2' }], ['y', 'x'], ['2\n1']],
    ['one field may be given as a string', [{ x: '1', text: 'a' }], 'x', ['1']],
    ['missing fields and null are skipped', [{ y: '2', z: null }], ['x', 'y', 'z'], ['2']],
    ['scalars as text', [{ x: 1.5, y: false }], ['x', 'y'], ['1.5\nfalse']],
    ['lists and objects as JSON', [{ x: [1, 'b'], y: { z: 1 } }], ['x', 'y'], ['[1,"b"]\n{"z":1}']],
    ['a field that rank_fields repeats once', [{ x: 'a', y: 'b' }], ['x', 'y', 'x'], ['a\nb']],
    ['rank_fields do not touch strings', ['a', { x: 'b' }], ['x'], ['a', 'b']],
    ['a field with the name of a method', [{ constructor: 'c' }], ['constructor'], ['c']],
  ])('%s', async (_, documents, fields, texts) => {
    const body = await sent({ documents, rank_fields: fields })
    expect(body).toEqual({ model: 'rerank-v3.5', query: 'q', documents: texts })
  })

  test('return_documents echoes that text', async () => {
    const gateway = await watchedGateway(config)
    gateway.upstream.next(
      scores([
        [1, 0.5],
        [0, 0.4],
      ]),
    )
    const fields = { query: 'q', rank_fields: ['x', 'y'], return_documents: true }
    const documents = [{ x: 'one', y: 2 }, 'plain']
    const { results } = await readOkBody(await rerank(gateway, { ...fields, documents }))
    expect(results.map(({ document }) => document)).toEqual([{ text: 'plain' }, { text: 'one\n2' }])
  })
})

describe('invalid requests are refused before any upstream call', () => {
  test.each([
    ['no documents', { documents: [] }, 'LM-2010', 'documents'],
    ['documents missing', { documents: undefined }, 'LM-1001', 'documents'],
    ['documents that are not a list', { documents: 'a' }, 'LM-1001', 'documents'],
    ['a document of another type', { documents: ['a', 7] }, 'LM-1001', 'documents.1'],
    ['a document that is null', { documents: [null] }, 'LM-1001', 'documents.0'],
    ['a document that is a list', { documents: [['a']] }, 'LM-1001', 'documents.0'],
    ['an object without a text', { documents: ['a', { x: 'b' }] }, 'LM-1001', 'documents.1'],
    ['a text that is not a string', { documents: [{ text: 7 }] }, 'LM-1001', 'documents.0'],
    [
      'an object without any of the fields',
      { documents: [{ x: 'a' }, { text: 'b' }], rank_fields: ['x', 'toString'] },
      'LM-1001',
      'documents.1',
    ],
    [
      'more documents than any vendor accepts',
      { documents: Array.from({ length: 16_385 }, () => 'a') },
      'LM-1001',
      'documents',
    ],
    ['no query', { query: undefined }, 'LM-1001', 'query'],
    ['an empty query', { query: '' }, 'LM-1001', 'query'],
    ['a query that is not a string', { query: { text: 'q' } }, 'LM-1001', 'query'],
    ['top_n of zero', { top_n: 0 }, 'LM-1001', 'top_n'],
    ['a fractional top_n', { top_n: 1.5 }, 'LM-1001', 'top_n'],
    ['top_k of zero', { top_k: 0 }, 'LM-1001', 'top_k'],
    [
      'return_documents that is not a boolean',
      { return_documents: 1 },
      'LM-1001',
      'return_documents',
    ],
    ['rank_fields that are not strings', { rank_fields: [1] }, 'LM-1001', 'rank_fields.0'],
    [
      'too many rank_fields',
      { documents: [{ a: 'x' }], rank_fields: ['a', ...Array(64).keys()].map(String) },
      'LM-1001',
      'rank_fields',
    ],
    ['no model', { model: undefined }, 'LM-1001', 'model'],
  ])('%s', async (_, fields, code, param) => {
    const gateway = await watchedGateway(config)
    const response = await rerank(gateway, { ...otters, ...fields })
    expect(response.status).toBe(400)
    expect(await expectErrorShape(response)).toMatchObject({ code, param })
    expect(gateway.upstream.requests).toEqual([])
  })

  test('an unknown model is LM-2001, and one without the capability is LM-2002', async () => {
    const gateway = await watchedGateway(
      `${config}[[providers.models]]\nid = "talker"\ncapabilities = ["chat", "embed"]\n`,
    )
    const unknown = await expectErrorShape(await rerank(gateway, { ...otters, model: 'x' }))
    expect(unknown.code).toBe('LM-2001')
    const talker = await rerank(gateway, { ...otters, model: 'talker' })
    expect(talker.status).toBe(400)
    expect((await expectErrorShape(talker)).code).toBe('LM-2002')
  })
})

describe('the number of results', () => {
  test.each([
    ['top_n', { top_n: 2 }, 2],
    ['top_n above the number of documents is all of them', { top_n: 9 }, 3],
    ['top_k, as sent by Voyage’s client', { top_k: 1 }, 1],
    ['top_n before top_k', { top_n: 2, top_k: 1 }, 2],
    ['null is all', { top_n: null, top_k: null }, undefined],
  ])('%s', async (_, fields, topN) => {
    const gateway = await watchedGateway(config)
    // More results than requested: not every vendor applies the limit.
    gateway.upstream.next(
      scores([
        [0, 0.1],
        [1, 0.2],
        [2, 0.3],
      ]),
    )
    const { results } = await readOkBody(await rerank(gateway, { ...otters, ...fields }))
    expect(results.map(({ index }) => index)).toEqual([2, 1, 0].slice(0, topN))
    expect(gateway.upstream.body()).toEqual({ model: 'rerank-v3.5', ...otters, top_n: topN })
  })
})

test('unknown fields are not forwarded, even to a strict provider', async () => {
  const gateway = await watchedGateway(
    rerankConfig({ kind: 'cohere', provider: { strict: true }, model: { upstream_id: 'r' } }),
  )
  gateway.upstream.next(scores([[0, 0.5]]))
  const own = { return_documents: false, rank_fields: ['text'], max_chunks_per_doc: 3, truncate: 1 }
  expect((await rerank(gateway, { ...otters, ...own })).status).toBe(200)
  expect(gateway.upstream.body()).toEqual({ model: 'r', ...otters })
})

test('a body that is nested too deeply is refused before it is parsed', async () => {
  const gateway = await watchedGateway(config)
  let nested: unknown = 'a'
  for (let depth = 0; depth < 130; depth++) nested = [nested]
  const response = await rerank(gateway, { ...otters, extra: nested })
  expect(response.status).toBe(400)
  expect(await expectErrorShape(response)).toMatchObject({ code: 'LM-1001', param: null })
})
