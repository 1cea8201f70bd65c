import { OpenAIEmbeddings } from '@langchain/openai'
import { HTTPClient, Mistral } from '@mistralai/mistralai'
import { Mixedbread } from '@mixedbread/sdk'
import { CohereClientV2 } from 'cohere-ai'
import { Ollama } from 'ollama'
import { describe, expect, test } from 'vitest'
import { VoyageAIClient } from 'voyageai'
import { embed, readOkBody, vectors } from '../support/embed.ts'
import { embedConfig } from '../support/embed-kinds.ts'
import { json } from '../support/scripted-upstream.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

/** A vendor's own client that embeds `texts`: its requests define the vendor's format. */
interface Oracle {
  readonly kind: string
  readonly model: string
  readonly answer: object
  readonly embed: (fetch: Fetch) => Promise<unknown>
  /** Fields that the client sends, and that the gateway leaves to the vendor's defaults. */
  readonly extra?: readonly string[]
}

const texts = ['red fox', 'tax law']
const found = [
  [0.5, -0.25],
  [1, 0],
]
const data = found.map((embedding, index) => ({ object: 'embedding', index, embedding }))
const usage = { prompt_tokens: 4, total_tokens: 4 }

const oracles: readonly Oracle[] = [
  {
    kind: 'cohere',
    model: 'embed-v4.0',
    answer: {
      id: 'e',
      embeddings: { float: found },
      texts,
      meta: { billed_units: { input_tokens: 4 } },
      response_type: 'embeddings_by_type',
    },
    async embed(fetch) {
      const client = new CohereClientV2({ token: 'key', fetch: fetch as typeof globalThis.fetch })
      const { embeddings } = await client.embed({
        model: 'embed-v4.0',
        texts,
        inputType: 'search_document',
        embeddingTypes: ['float'],
        outputDimension: 256,
      })
      return embeddings.float
    },
  },
  {
    kind: 'voyage',
    model: 'voyage-3-large',
    answer: { object: 'list', data, model: 'voyage-3-large', usage: { total_tokens: 4 } },
    async embed(fetch) {
      const client = new VoyageAIClient({ apiKey: 'key', fetch: fetch as typeof globalThis.fetch })
      const answer = await client.embed({
        model: 'voyage-3-large',
        input: texts,
        outputDimension: 256,
      })
      return answer.data?.map(({ embedding }) => embedding)
    },
  },
  {
    kind: 'mistral',
    model: 'codestral-embed',
    answer: {
      id: 'e',
      object: 'list',
      data,
      model: 'codestral-embed',
      usage: { ...usage, completion_tokens: 0 },
    },
    async embed(fetch) {
      const httpClient = new HTTPClient({ fetcher: fetch as typeof globalThis.fetch })
      const client = new Mistral({ apiKey: 'key', httpClient })
      const answer = await client.embeddings.create({
        model: 'codestral-embed',
        inputs: texts,
        outputDimension: 256,
      })
      return answer.data.map(({ embedding }) => embedding)
    },
  },
  {
    kind: 'mixedbread',
    model: 'mxbai-embed-large-v1',
    answer: {
      object: 'list',
      data,
      model: 'mxbai-embed-large-v1',
      usage,
      normalized: true,
      encoding_format: 'float',
      dimensions: 2,
    },
    async embed(fetch) {
      const client = new Mixedbread({ apiKey: 'key', fetch: fetch as typeof globalThis.fetch })
      const answer = await client.embed({
        model: 'mxbai-embed-large-v1',
        input: texts,
        dimensions: 256,
      })
      return answer.data.map(({ embedding }) => embedding)
    },
  },
  {
    kind: 'ollama',
    model: 'nomic-embed-text',
    answer: { model: 'nomic-embed-text', embeddings: found, prompt_eval_count: 4 },
    async embed(fetch) {
      const client = new Ollama({ fetch: fetch as typeof globalThis.fetch })
      const answer = await client.embed({
        model: 'nomic-embed-text',
        input: texts,
        dimensions: 256,
      })
      return answer.embeddings
    },
    extra: ['dimensions'],
  },
]

describe('the gateway sends what the vendor’s own client sends, and reads the same answer', () => {
  test.each(oracles)('$kind', async ({ kind, model, answer, embed: ask, extra = [] }) => {
    const sent: { path: string; body: Record<string, unknown> }[] = []
    const read = await ask(async (input, init) => {
      const request = new Request(input, init)
      const body = (await request.json()) as Record<string, unknown>
      sent.push({ path: new URL(request.url).pathname, body })
      return Response.json(answer)
    })
    expect(read).toEqual(found)
    const gateway = await watchedGateway(embedConfig({ kind, model: { upstream_id: model } }))
    gateway.upstream.next(json(answer))
    const got = await readOkBody(await embed(gateway, { input: texts, dimensions: 256 }))
    expect(got.data.map(({ embedding }) => embedding)).toEqual(found)
    expect(got.usage).toEqual(usage)
    const [{ path, body }] = sent as [(typeof sent)[number]]
    expect(new URL(gateway.upstream.requests[0]?.url ?? '').pathname).toBe(path)
    for (const name of extra) delete body[name]
    expect(gateway.upstream.body()).toEqual(body)
  })
})

test('LangChain embeds documents and queries through the gateway', async () => {
  const gateway = await watchedGateway(
    embedConfig({ kind: 'openai', model: { upstream_id: 'text-embedding-3-small' } }),
  )
  gateway.upstream.next(vectors(found, 4), vectors([[0.1, 0.2]], 2))
  const embeddings = new OpenAIEmbeddings({
    model: 'm',
    apiKey: 'any',
    configuration: {
      baseURL: 'http://gateway.test/v1',
      fetch: (url, init) => gateway.gateway.fetch(new Request(url, init as RequestInit)),
    },
  })
  expect(await embeddings.embedDocuments(texts)).toEqual(found)
  expect(await embeddings.embedQuery('fox')).toEqual([0.1, 0.2].map(Math.fround))
})
