import { expect, test } from 'vitest'
import { kinds } from '../../src/providers/index.ts'

test('a kind has a rerank dialect exactly when it lists the capability', () => {
  const listed = kinds.filter(({ capabilities }) => capabilities.includes('rerank'))
  const withDialect = kinds.filter((kind) => kind.rerank !== undefined)
  expect(withDialect.map(({ name }) => name)).toEqual(listed.map(({ name }) => name))
  expect(new Set(withDialect.map(({ name }) => name))).toEqual(
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
