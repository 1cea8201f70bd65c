import * as fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { fileWithModels, load } from './support.ts'

const loaded = vi.hoisted(() => ({ count: 0 }))

vi.mock('toml-eslint-parser', async (original) => {
  loaded.count++
  return original()
})

test('the parser that finds lines is loaded only for a file with problems', async () => {
  await load(fileWithModels({ a: '' }))
  expect(loaded.count).toBe(0)
  await load('nonsense = 1')
  expect(loaded.count).toBe(1)
})

const lines = fc.constantFrom(
  '[server]',
  '[auth]',
  '[webhooks]',
  '[[providers]]',
  '[[providers.models]]',
  '[providers]',
  '[providers.models]',
  'port = 1e400',
  'enabled = true',
  'name = "a"',
  'kind = "openai"',
  'kind = "gemini"',
  'base_url = "us-east-1"',
  'url = "http://["',
  'id = "a"',
  'id = "b"',
  'fallbacks = ["a", "b", nan, { }]',
  'capabilities = ["chat", [], "embed"]',
  'models = [1, [2], { id = [] }]',
  'thresholds = [1, 2.5, inf, 1979-05-27T07:32:00Z]',
  'providers = [{ models = [{ fallbacks = [[[1]]] }] }]',
  'a.b."c.d"."\\u0000" = 9223372036854775807',
  'constructor = 1',
)

test.each([
  ['any text', fc.string({ unit: 'binary' })],
  [
    'any text of the signs of TOML',
    fc.string({ unit: fc.constantFrom(...'[]{}="\'.,\n #a1-_T:\\u') }),
  ],
  ['settings in any order', fc.array(lines, { maxLength: 20 }).map((all) => all.join('\n'))],
])('%s is accepted or refused, never thrown at', async (_title, texts) => {
  await fc.assert(
    fc.asyncProperty(texts, async (text) => {
      const result = await load(text)
      expect(result.ok ? 1 : result.problems.length).toBeGreaterThan(0)
    }),
    { numRuns: 500 },
  )
})

const variables = fc.constantFrom(
  'GATEWAY_SERVER__PORT',
  'GATEWAY_AUTH__ENABLED',
  'GATEWAY_WEBHOOKS__URL',
  'GATEWAY_WEBHOOKS__THRESHOLDS',
  'GATEWAY_TELEMETRY__METADATA_LABELS',
  'GATEWAY_PROVIDERS',
  'GATEWAY___',
)

test('any environment is accepted or refused, and none makes the loader throw', async () => {
  const values = fc.oneof(fc.string({ unit: 'binary' }), fc.json())
  await fc.assert(
    fc.asyncProperty(lines, fc.dictionary(variables, values), async (text, env) => {
      expect(await load(text, env)).toHaveProperty('ok')
    }),
    { numRuns: 300 },
  )
})
