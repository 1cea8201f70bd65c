import { expect, test } from 'vitest'
import { kinds } from '../../../src/providers/index.ts'
import { otters, rerank, rerankConfig } from '../../support/rerank.ts'
import { json } from '../../support/scripted-upstream.ts'
import { watchedGateway } from '../../support/watched-gateway.ts'

test('a kind has a dialect for rerank exactly where it serves rerank', () => {
  const serving = kinds.filter(({ capabilities }) => capabilities.includes('rerank'))
  const speaking = kinds.filter((kind) => kind.rerank !== undefined)
  expect(speaking.map(({ name }) => name)).toEqual(serving.map(({ name }) => name))
  expect(new Set(speaking.map(({ name }) => name))).toEqual(
    new Set([
      'cohere',
      'bedrock',
      'jina',
      'voyage',
      'mixedbread',
      'pinecone',
      'nvidia',
      'together',
      'tei',
      'vllm',
      'cloudflare',
      'demo',
    ]),
  )
})

test.each([
  'https://api.cloudflare.com/client/v4/accounts/acc1',
  'https://api.cloudflare.com/client/v4/accounts/acc1/',
  'https://api.cloudflare.com/client/v4/accounts/acc1/ai',
  'https://api.cloudflare.com/client/v4/accounts/acc1/ai/v1',
])('Cloudflare ranks beside its OpenAI layer, whichever address is given: %s', async (base_url) => {
  const gateway = await watchedGateway(
    rerankConfig({
      kind: 'cloudflare',
      provider: { base_url },
      model: { upstream_id: '@cf/baai/bge-reranker-base' },
    }),
  )
  gateway.upstream.always(json({}, { status: 400 }))
  await rerank(gateway, otters)
  expect(gateway.upstream.requests[0]?.url).toBe(
    'https://api.cloudflare.com/client/v4/accounts/acc1/ai/run/@cf/baai/bge-reranker-base',
  )
})
