import { describe, expect, test } from 'vitest'
import { json } from '../support/scripted-upstream.ts'
import { settlement } from '../support/stream-client.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

/* Embeddings and rerank: inputs that do not fit the model, or that the vendor's content filter refuses. */

const refusals = [
  ["This model's maximum context length is 8192 tokens, however you requested 9000", 'LM-2012'],
  [
    'THE INPUT (9000 TOKENS) IS LONGER THAN THE MODEL’S CONTEXT LENGTH (8192 TOKENS).'.replace(
      '’',
      "'",
    ),
    'LM-2012',
  ],
  ['Prompt exceeds max length', 'LM-2012'],
  ['Content Exists Risk', 'LM-2013'],
  ['Input data may contain inappropriate content.', 'LM-2013'],
] as const

const searches = [
  { path: '/v1/embeddings', capability: 'embed', kinds: ['openai', 'cohere', 'voyage', 'google'] },
  { path: '/v1/rerank', capability: 'rerank', kinds: ['cohere', 'jina', 'voyage', 'mixedbread'] },
].flatMap(({ kinds, ...search }) => kinds.map((kind) => ({ kind, ...search })))

describe.each(searches)('$path of $kind', ({ kind, path, capability }) => {
  test.each(refusals)('%s', async (message, code) => {
    const gateway = await watchedGateway(
      `[[providers]]
      name = "p"
      kind = "${kind}"
      api_key_env = "P_KEY"
      models = [{ id = "m", upstream_id = "m-1", capabilities = ["${capability}"] }]`,
      { env: { P_KEY: 'k' } },
    )
    gateway.upstream.next(json({ error: { message }, message }, { status: 400 }))
    const asked = capability === 'embed' ? { input: 'Hi' } : { query: 'Hi', documents: ['a'] }
    const body = JSON.stringify({ model: 'm', ...asked })
    const response = await gateway.get(path, { method: 'POST', body })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { code } })
    expect(settlement(gateway.log)).toMatchObject({ status: 400, error_code: code })
    expect(gateway.upstream.requests).toHaveLength(1)
  })
})
