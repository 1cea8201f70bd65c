import { describe, expect, test } from 'vitest'
import { message, readOutcome } from './support.ts'

const text = { type: 'text', text: 'Hello' }

describe('usage', () => {
  const counted = async (usage: unknown) => (await readOutcome(message([text], { usage }))).usage

  test('prompt_tokens include the tokens that the cache has read and written', async () => {
    expect(
      await counted({
        input_tokens: 10,
        cache_creation_input_tokens: 20,
        cache_read_input_tokens: 100,
        output_tokens: 40,
        output_tokens_details: { thinking_tokens: 15 },
      }),
    ).toEqual({
      prompt_tokens: 130,
      completion_tokens: 40,
      total_tokens: 170,
      prompt_tokens_details: { cached_tokens: 100, cache_creation_tokens: 20 },
      completion_tokens_details: { reasoning_tokens: 15 },
    })
  })

  test.each([
    [{ cache_read_input_tokens: 5 }, { cached_tokens: 5 }],
    [{ cache_creation_input_tokens: 5 }, { cache_creation_tokens: 5 }],
    [
      { cache_read_input_tokens: 5, cache_creation_input_tokens: 0 },
      { cached_tokens: 5, cache_creation_tokens: 0 },
    ],
  ])('an absent cache counter beside %j stays absent', async (cache, details) => {
    const usage = await counted({ input_tokens: 10, output_tokens: 5, ...cache })
    expect(usage).toMatchObject({ prompt_tokens: 15 })
    expect(usage?.['prompt_tokens_details']).toEqual(details)
  })

  test('the counters of several runs are added up', async () => {
    const run = (input: number, output: number) => ({
      input_tokens: input,
      output_tokens: output,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 1,
    })
    const iterations = [run(60_000, 300), run(600, 20)]
    expect(await counted({ ...run(600, 20), iterations })).toEqual({
      prompt_tokens: 60_602,
      completion_tokens: 320,
      total_tokens: 60_922,
      prompt_tokens_details: { cached_tokens: 2, cache_creation_tokens: 0 },
    })
    for (const none of [[], null, 'odd']) {
      expect(await counted({ ...run(600, 20), iterations: none })).toMatchObject({
        prompt_tokens: 601,
      })
    }
  })

  test('counters that are null count as absent', async () => {
    expect(
      await counted({
        input_tokens: 10,
        cache_creation_input_tokens: null,
        cache_read_input_tokens: null,
        output_tokens: 5,
        output_tokens_details: null,
      }),
    ).toEqual({ prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 })
  })

  test.each([
    [undefined],
    [null],
    [7],
    [{}],
    [{ output_tokens: 5 }],
    [{ input_tokens: -1, output_tokens: 5 }],
    [{ input_tokens: 1.5, output_tokens: 5 }],
    [{ input_tokens: '10', output_tokens: 5 }],
    [{ input_tokens: 10, output_tokens: 5, cache_read_input_tokens: -3 }],
    [{ input_tokens: Number.MAX_SAFE_INTEGER, output_tokens: 5 }],
    [{ input_tokens: 0, output_tokens: 0 }],
  ])('usage is estimated where the answer has %j', async (usage) => {
    expect(await counted(usage)).toMatchObject({ estimated: true })
  })
})
