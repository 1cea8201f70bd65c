import { expect, test } from 'vitest'
import type { ModelId } from '../../src/core/ids.ts'
import { findEncoding } from '../../src/tokens/index.ts'

const encoding = (upstreamId: string, id = 'm') => findEncoding({ upstreamId, id: id as ModelId })

test.each([
  'o1',
  'o1-mini',
  'o3-2025-04-16',
  'o4-mini',
  'gpt-5',
  'gpt-5-nano',
  'gpt-4.5-preview',
  'gpt-4.1-mini',
  'chatgpt-4o-latest',
  'gpt-4o',
  'gpt-4o-2024-08-06',
  'gpt-oss:20b',
  'ft:gpt-4o:acme',
  'ft:gpt-4.1-mini:acme::x',
  'openai/gpt-4o-mini',
  'accounts/fireworks/models/gpt-oss-120b',
  'openai.gpt-oss-120b-1:0',
])('%s is counted with o200k_base', (id) => {
  expect(encoding(id)).toBe('o200k_base')
})

test.each([
  'gpt-4',
  'gpt-4-turbo',
  'gpt-3.5-turbo',
  'gpt-35-turbo',
  'text-embedding-3-small',
  'text-embedding-ada-002',
  'davinci-002',
  'babbage-002',
  'ft:gpt-4:acme',
  'ft:gpt-3.5-turbo:acme',
  'openai/gpt-4',
])('%s is counted with cl100k_base', (id) => {
  expect(encoding(id)).toBe('cl100k_base')
})

test.each(['o1x', 'o2', 'o30', 'gpt-j', 'claude-opus-4', 'my-gpt-4', 'llama-3', ''])(
  '%j is not counted exactly',
  (id) => {
    expect(encoding(id)).toBeUndefined()
  },
)

test("the upstream's name for a model decides, and its own where that says nothing", () => {
  expect(encoding('gpt-4', 'gpt-4o')).toBe('cl100k_base')
  expect(encoding('my-deployment', 'gpt-4o')).toBe('o200k_base')
})
