import { describe, expect, test } from 'vitest'
import { counts, readCompletion, saying } from './support.ts'

describe('usage', () => {
  async function usageFor(usageMetadata: unknown) {
    return (await readCompletion({ ...saying('Hello there'), usageMetadata })).usage
  }

  test.each<[string, object, object]>([
    [
      'the output left out',
      { promptTokenCount: 7, totalTokenCount: 7 },
      { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10, estimated: true },
    ],
    [
      'no total',
      { promptTokenCount: 7, candidatesTokenCount: 2, thoughtsTokenCount: 1 },
      {
        prompt_tokens: 7,
        completion_tokens: 3,
        total_tokens: 10,
        completion_tokens_details: { reasoning_tokens: 1 },
      },
    ],
    [
      'a total alone',
      { candidatesTokenCount: 2, totalTokenCount: 10 },
      { prompt_tokens: 8, completion_tokens: 2, total_tokens: 10 },
    ],
    [
      'thoughts among the candidates',
      {
        promptTokenCount: 10,
        candidatesTokenCount: 25,
        thoughtsTokenCount: 20,
        totalTokenCount: 35,
      },
      {
        prompt_tokens: 10,
        completion_tokens: 25,
        total_tokens: 35,
        completion_tokens_details: { reasoning_tokens: 20 },
      },
    ],
    [
      'thoughts in the total alone',
      { promptTokenCount: 38, candidatesTokenCount: 1335, totalTokenCount: 1890 },
      { prompt_tokens: 38, completion_tokens: 1852, total_tokens: 1890 },
    ],
  ])('usageMetadata with %s is counted', async (_, metadata, expected) => {
    expect(await usageFor(metadata)).toEqual(expected)
  })

  test.each([
    ['nothing', undefined],
    ['null', null],
    ['a string', 'many'],
    ['an empty object', {}],
    ['only the traffic type', { trafficType: 'ON_DEMAND' }],
    ['zeros', { promptTokenCount: 0, totalTokenCount: 0 }],
    ['a negative count', { ...counts, promptTokenCount: -1 }],
    ['a fraction', { ...counts, candidatesTokenCount: 1.5 }],
    ['a count beyond 2^53', { ...counts, totalTokenCount: 2 ** 60 }],
    ['a count that is a string', { ...counts, cachedContentTokenCount: 'two' }],
  ])('usageMetadata with %s is estimated', async (_, metadata) => {
    const usage = await usageFor(metadata)
    expect(usage).toMatchObject({ estimated: true })
    expect(usage['completion_tokens']).toBeGreaterThan(0)
  })
})
