import { expect, test } from 'vitest'
import { readOutcome } from './support.ts'

test.each([
  [
    { inputTokens: 4, outputTokens: 2, cacheWriteInputTokens: 3 },
    { prompt_tokens: 7, total_tokens: 9 },
  ],
  [
    { inputTokens: 4, outputTokens: 2, cacheReadInputTokens: null },
    { prompt_tokens: 4, total_tokens: 6 },
  ],
  [
    { inputTokens: 4, outputTokens: 2, totalTokens: 99 },
    { prompt_tokens: 4, total_tokens: 6 },
  ],
  [
    { inputTokens: 4, outputTokens: 2, cacheReadInputTokens: 3 },
    { prompt_tokens_details: { cached_tokens: 3 } },
  ],
  [{ inputTokens: 4 }, { estimated: true }],
  [{ inputTokens: 4, outputTokens: 2, cacheReadInputTokens: -1 }, { estimated: true }],
  [{ inputTokens: 1.5, outputTokens: 2 }, { estimated: true }],
  [{ inputTokens: 2 ** 53 - 1, outputTokens: 2 }, { estimated: true }],
  [{ inputTokens: 0, outputTokens: 0 }, { estimated: true }],
  ['many', { estimated: true }],
])('usage %j becomes %j', async (usage, expected) => {
  expect((await readOutcome([{ text: 'Hi' }], { usage })).usage).toMatchObject(expected)
})
