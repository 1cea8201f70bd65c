import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { isPlainResponse, parseGeminiResponse } from '../../../src/providers/google/response.ts'

/** Mostly the first value. */
const mostly = (first: unknown, ...others: readonly unknown[]) =>
  fc.oneof(
    { weight: 12, arbitrary: fc.constant(first) },
    { weight: 1, arbitrary: fc.constantFrom(...others) },
  )
const list = (item: fc.Arbitrary<unknown>) =>
  fc.oneof(
    { weight: 12, arbitrary: fc.array(item, { maxLength: 3 }) },
    fc.constantFrom(null, {}, 'text', undefined),
  )

const part = mostly(
  { text: 'Hi' },
  { text: 1 },
  { text: null },
  { text: 'Hi', thought: 'yes' },
  { functionCall: { name: 'f', args: { a: 1 } } },
  { functionCall: 1 },
  null,
)
const candidate = fc.record({
  content: fc.oneof({
    weight: 12,
    arbitrary: fc.record({ parts: list(part), role: fc.constant('model') }),
  }),
  finishReason: mostly('STOP', 1, null, undefined),
  index: mostly(0, -1, 0.5, 1e300, '0', null, undefined),
  logprobsResult: mostly(undefined, 1, {}),
  groundingMetadata: mostly(undefined, {}),
})
const response = fc.record({
  responseId: mostly('r', 1, null, undefined),
  candidates: list(candidate),
  promptFeedback: mostly(undefined, null, { blockReason: 1 }, { blockReason: 'OTHER' }),
  usageMetadata: mostly({ promptTokenCount: 3 }, 1, null, undefined),
})

test('what is read without the schema is what the schema takes, with the same facts', () => {
  let plain = 0
  const property = fc.property(response, (given) => {
    const json = JSON.stringify(given)
    const value: unknown = JSON.parse(json)
    if (!isPlainResponse(value)) return
    plain++
    const parsed = parseGeminiResponse(json, value)
    expect(parsed).toBeDefined()
    expect(value).toMatchObject(JSON.parse(JSON.stringify(parsed)))
  })
  fc.assert(property, { numRuns: 1_000 })
  expect(plain).toBeGreaterThan(100)
})
