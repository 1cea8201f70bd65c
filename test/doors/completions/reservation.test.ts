import { describe, expect, test } from 'vitest'
import { textAnswer } from '../../support/completions.ts'
import { errorIn, keyedGateway } from '../../support/keyed-gateway.ts'

/** A prompt token costs 1,000 nano-dollars, a token of the output 2,000. */
const inUsd = (promptTokens: number, outputTokens: number) =>
  (promptTokens * 1_000 + outputTokens * 2_000) / 1e9

describe('a request reserves what its upstream may bill', () => {
  test.each([
    ['a text by its bytes', { prompt: 'x'.repeat(9), max_tokens: 10 }, 3, 10],
    ['token ids one each', { prompt: [5, 6, 7, 8], max_tokens: 10 }, 4, 10],
    ['each prompt of a list', { prompt: ['x', 'xxxxx'], max_tokens: 10 }, 3, 20],
    ['each list of token ids', { prompt: [[1, 2], [3]], max_tokens: 10 }, 3, 20],
    ['the suffix of each prompt', { prompt: ['x', 'x'], suffix: 'abcde', max_tokens: 10 }, 6, 20],
    ['every choice', { prompt: 'x', max_tokens: 10, n: 3 }, 1, 30],
    ['every try', { prompt: 'x', max_tokens: 10, n: 2, best_of: 5 }, 1, 50],
    ['more choices than tries', { prompt: 'x', max_tokens: 10, n: 5, best_of: 2 }, 1, 50],
    ['every choice of every prompt', { prompt: ['x', 'x'], max_tokens: 10, n: 3 }, 2, 60],
    ['the largest bound', { prompt: 'x', max_tokens: 1, max_output_tokens: 9 }, 1, 9],
    ['a bound of 0', { prompt: 'x', max_tokens: 0, echo: true }, 1, 0],
    ['the assumed output without a bound', { prompt: 'x' }, 1, 100],
    ['the assumed output of every choice', { prompt: 'x', n: 2 }, 1, 200],
    ['one token without a prompt', { max_tokens: 10 }, 1, 10],
  ])('%s', async (_, fields, promptTokens, outputTokens) => {
    const gateway = await keyedGateway(undefined, { auth: 'reserve_output_tokens = 100' })
    const needed = inUsd(promptTokens, outputTokens)
    const short = await gateway.key({ budget_max: needed - 1e-9 })
    const enough = await gateway.key({ budget_max: needed })
    const body = { model: 'm', ...fields }
    const refused = await gateway.ask(short, body, '/v1/completions')
    expect(refused.status).toBe(402)
    expect(errorIn(refused)).toMatchObject({ code: 'LM-4001' })
    gateway.upstream.next(
      textAnswer('', { usage: { prompt_tokens: 1, completion_tokens: 0, total_tokens: 1 } }),
    )
    expect((await gateway.ask(enough, body, '/v1/completions')).status).toBe(200)
  })
})

test('a key with a limit of tokens is debited the prompt and the bound', async () => {
  const gateway = await keyedGateway()
  const body = { model: 'm', prompt: [1, 2, 3], max_tokens: 7 }
  const short = await gateway.key({ tpm_limit: 9 })
  expect((await gateway.ask(short, body, '/v1/completions')).status).toBe(429)
  const enough = await gateway.key({ tpm_limit: 10 })
  gateway.upstream.next(textAnswer())
  expect((await gateway.ask(enough, body, '/v1/completions')).status).toBe(200)
})

test('a request that no link can express leaves no row', async () => {
  const gateway = await keyedGateway(`
    [[providers]]
    name = "p"
    kind = "anthropic"
    api_key_env = "P_KEY"
    models = [{ id = "m" }]
  `)
  const key = await gateway.key()
  const answer = await gateway.ask(key, { model: 'm', prompt: 'x' }, '/v1/completions')
  expect(errorIn(answer)).toMatchObject({ code: 'LM-2002' })
  expect(await gateway.rows()).toEqual([])
})
