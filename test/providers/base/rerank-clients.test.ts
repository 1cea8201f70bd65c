import { Mixedbread } from '@mixedbread/sdk'
import { Pinecone } from '@pinecone-database/pinecone'
import { CohereClient, CohereClientV2 } from 'cohere-ai'
import { describe, expect, test } from 'vitest'
import { VoyageAIClient } from 'voyageai'
import { otters, readOkBody, rerank, rerankConfig, scores } from '../../support/rerank.ts'
import { json } from '../../support/scripted-upstream.ts'
import { watchedGateway } from '../../support/watched-gateway.ts'

type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

/** A vendor's own client that ranks `otters`; its request is the reference. */
interface Oracle {
  readonly kind: string
  readonly model: string
  readonly answer: object
  /** Ranks the documents and returns the best two as the client parsed them. */
  readonly rank: (fetch: Fetch) => Promise<readonly (readonly [index: number, score: number])[]>
  /** Fields that the client sends and the gateway leaves at the vendor's defaults. */
  readonly extra?: readonly string[]
}

const { query } = otters
const documents = [...otters.documents]
const best = [
  [2, 0.9],
  [0, 0.4],
] as const
const relevance = best.map(([index, score]) => ({ index, relevance_score: score }))
const plain = best.map(([index, score]) => ({ index, score }))

const oracles: readonly Oracle[] = [
  {
    kind: 'cohere',
    model: 'rerank-v3.5',
    answer: { id: 'r', results: relevance, meta: { billed_units: { search_units: 1 } } },
    async rank(fetch) {
      const client = new CohereClientV2({ token: 'key', fetch: fetch as typeof globalThis.fetch })
      const { results } = await client.rerank({ model: 'rerank-v3.5', query, documents, topN: 2 })
      return results.map(({ index, relevanceScore }) => [index, relevanceScore])
    },
  },
  {
    kind: 'voyage',
    model: 'rerank-2.5',
    answer: { object: 'list', data: relevance, model: 'rerank-2.5', usage: { total_tokens: 30 } },
    async rank(fetch) {
      const client = new VoyageAIClient({ apiKey: 'key', fetch: fetch as typeof globalThis.fetch })
      const { data = [] } = await client.rerank({ model: 'rerank-2.5', query, documents, topK: 2 })
      return data.map(({ index = -1, relevanceScore = -1 }) => [index, relevanceScore])
    },
  },
  {
    kind: 'mixedbread',
    model: 'mxbai-rerank-large-v2',
    answer: {
      object: 'list',
      data: plain.map((entry) => ({ ...entry, object: 'rank_result' })),
      model: 'mxbai-rerank-large-v2',
      usage: { prompt_tokens: 30, total_tokens: 30 },
      top_k: 2,
      return_input: false,
    },
    async rank(fetch) {
      const client = new Mixedbread({ apiKey: 'key', fetch: fetch as typeof globalThis.fetch })
      const { data } = await client.rerank({
        model: 'mxbai-rerank-large-v2',
        query,
        input: documents,
        top_k: 2,
      })
      return data.map(({ index, score }) => [index, score])
    },
  },
  {
    kind: 'pinecone',
    model: 'bge-reranker-v2-m3',
    answer: { model: 'bge-reranker-v2-m3', data: plain, usage: { rerank_units: 1 } },
    async rank(fetch) {
      const client = new Pinecone({ apiKey: 'key', fetchApi: fetch as typeof globalThis.fetch })
      const { data } = await client.inference.rerank({
        model: 'bge-reranker-v2-m3',
        query,
        documents,
        topN: 2,
        returnDocuments: false,
      })
      return data.map(({ index, score }) => [index, score])
    },
    extra: ['rank_fields', 'parameters'],
  },
]

describe('the gateway sends the same request as the vendor’s own client and reads the same answer', () => {
  test.each(oracles)('$kind', async ({ kind, model, answer, rank, extra = [] }) => {
    const sent: { url: string; body: Record<string, unknown> }[] = []
    const read = await rank(async (input, init) => {
      const request = new Request(input, init)
      const body = (await request.json()) as Record<string, unknown>
      sent.push({ url: request.url, body })
      return Response.json(answer)
    })
    expect(read).toEqual(best)
    const gateway = await watchedGateway(rerankConfig({ kind, model: { upstream_id: model } }))
    gateway.upstream.next(json(answer))
    const got = await readOkBody(await rerank(gateway, { ...otters, top_n: 2 }))
    expect(got.results).toEqual(relevance)
    const [{ url, body }] = sent as [(typeof sent)[number]]
    expect(gateway.upstream.requests[0]?.url).toBe(url)
    for (const name of extra) delete body[name]
    expect(gateway.upstream.body()).toEqual(body)
  })
})

describe('the official cohere-ai package works through the gateway', () => {
  const setup = async () => {
    const gateway = await watchedGateway(rerankConfig({ kind: 'cohere' }))
    gateway.upstream.next(scores([[2, 0.9]]))
    const paths: string[] = []
    const options = {
      environment: 'http://gateway.test',
      token: 'any',
      fetch: ((url, init) => {
        const request = new Request(url, init)
        paths.push(new URL(request.url).pathname)
        return gateway.gateway.fetch(request)
      }) satisfies typeof fetch,
    }
    return { options, paths }
  }

  test('the client of API v2 works', async () => {
    const { options, paths } = await setup()
    const client = new CohereClientV2(options)
    const { results } = await client.rerank({ model: 'm', query, documents, topN: 1 })
    expect(results).toEqual([{ index: 2, relevanceScore: 0.9 }])
    expect(paths).toEqual(['/v2/rerank'])
  })

  test('the client of API v1 works with documents that are objects, and gets them back', async () => {
    const { options, paths } = await setup()
    const client = new CohereClient(options)
    const { results } = await client.rerank({
      model: 'm',
      query,
      documents: documents.map((text) => ({ text })),
      topN: 1,
      returnDocuments: true,
    })
    const document = { text: 'An otter dives for fish.' }
    expect(results).toEqual([{ index: 2, relevanceScore: 0.9, document }])
    expect(paths).toEqual(['/v1/rerank'])
  })
})
