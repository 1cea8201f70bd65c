import { describe, expect, test } from 'vitest'
import { answered, readCompletion } from './support.ts'

describe('usage', () => {
  const tokens = { input_tokens: 74, output_tokens: 8 }
  const billed_units = { input_tokens: 5, output_tokens: 2 }
  const message = { content: [{ type: 'text', text: 'abcdefgh' }] }

  test.each([
    ['tokens take precedence over billed units', { tokens, billed_units }, [74, 8]],
    ['billed units replace missing tokens', { billed_units }, [5, 2]],
    ['both counts come from one group', { tokens: { input_tokens: 74 }, billed_units }, [5, 2]],
    ['floats are rounded', { tokens: { input_tokens: 73.6, output_tokens: 8.4 } }, [74, 8]],
    [
      'a group with a negative count is ignored',
      { tokens: { ...tokens, output_tokens: -8 }, billed_units },
      [5, 2],
    ],
  ])('usage: %s', async (_, usage, [prompt_tokens, completion_tokens]) => {
    expect((await readCompletion(answered(message, { usage }))).usage).toEqual({
      prompt_tokens,
      completion_tokens,
      total_tokens: Number(prompt_tokens) + Number(completion_tokens),
    })
  })

  test.each([
    undefined,
    null,
    'none',
    {},
    { tokens: 7 },
    { tokens: { input_tokens: '74', output_tokens: '8' } },
    { tokens: { input_tokens: 1e300, output_tokens: 8 } },
    { tokens: { input_tokens: 0, output_tokens: 0 } },
  ])('the gateway estimates an invalid usage of %j', async (usage) => {
    expect((await readCompletion(answered(message, { usage }))).usage).toMatchObject({
      completion_tokens: 2,
      estimated: true,
    })
  })

  test('cached tokens that are not a count are left out', async () => {
    const { usage } = await readCompletion(
      answered(message, { usage: { tokens, cached_tokens: -1 } }),
    )
    expect(usage).not.toHaveProperty('prompt_tokens_details')
  })
})
