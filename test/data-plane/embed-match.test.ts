import { isUtf8 } from 'node:buffer'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { matchEmbed } from '../../src/data-plane/embeddings/match.ts'
import { toBytes } from '../fuzz/target.ts'
import { embedMatch } from '../fuzz/targets/matched.ts'
import { numbered, readItems, vectors } from '../support/embed.ts'
import { oneProvider, testGateway } from '../support/gateway.ts'
import { testMatching, writtenRequests } from '../support/matching.ts'

const prose = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }),
  fc.constantFrom('Hi', '“so”\n\t\\ "é" 🤔 '.repeat(20), '/'.repeat(99)),
)
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined })

/** Requests as SDKs write them. */
const requests = writtenRequests(
  fc.record({
    model: fc.string({ minLength: 1 }),
    input: fc.oneof(prose, fc.array(prose, { minLength: 1, maxLength: 5 })),
    encoding_format: maybe(fc.constantFrom('float', 'base64', null)),
    dimensions: maybe(fc.option(fc.integer({ min: 1, max: 4096 }))),
    input_type: maybe(fc.constantFrom('query', 'search_document')),
    user: maybe(fc.string()),
  }),
)

const withMembers = (members: string) => `{"model":"m",${members}}`

describe('an embeddings request that is not parsed', () => {
  testMatching({ requests, match: matchEmbed, target: embedMatch })

  test.each([
    ['token ids', withMembers('"input":[1,2]')],
    ['parts', withMembers('"input":[[{"type":"text","text":"Hi"}]]')],
    ['no texts', withMembers('"input":[]')],
    ['an empty text', withMembers('"input":["a",""]')],
    ['too many texts', withMembers(`"input":[${'"a",'.repeat(16_384)}"a"]`)],
    ['no input', withMembers('"user":"u"')],
    ['a repeated input', withMembers('"input":"a","input":"b"')],
    ['an unknown format', withMembers('"input":"a","encoding_format":"int8"')],
    ['dimensions of 0', withMembers('"input":"a","dimensions":0')],
    ['no model', '{"input":"a"}'],
  ])('parses a request with %s', (_, body) => {
    expect(matchEmbed(toBytes(body), isUtf8)).toBeUndefined()
  })
})

const config = `${oneProvider}capabilities = ["embed"]`

describe('the texts of a request', () => {
  test('reach an upstream of the OpenAI format as the client wrote them', async () => {
    const { upstream, get } = await testGateway(config)
    upstream.next(vectors([[1], [2]]))
    const input = '[ "one", "t\\u0077o\\/" ]'
    const body = `{"model":"m","dimensions":1,"input":${input}}`
    expect((await get('/v1/embeddings', { method: 'POST', body })).status).toBe(200)
    expect(upstream.text()).toContain(`"input":${input}`)
    expect(upstream.body()).toEqual({ model: 'upstream-m', input: ['one', 'two/'], dimensions: 1 })
  })

  test('are decoded where they need several calls', async () => {
    const { upstream, get } = await testGateway(`${config}\nmax_batch_size = 2`)
    upstream.always(numbered)
    const body = '{"model":"m","input":["t1","t\\u0032","t3"]}'
    expect((await get('/v1/embeddings', { method: 'POST', body })).status).toBe(200)
    expect(upstream.requests.map(readItems)).toEqual([['t1', 't2'], ['t3']])
  })
})
