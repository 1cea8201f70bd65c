import { expect, test } from 'vitest'
import { kinds } from '../../../src/providers/index.ts'

test('a kind has a dialect for rerank exactly where it serves rerank', () => {
  const serving = kinds.filter(({ capabilities }) => capabilities.includes('rerank'))
  const speaking = kinds.filter(({ rerank }) => rerank !== undefined)
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
