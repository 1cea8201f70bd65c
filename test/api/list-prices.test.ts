import { expect, test } from 'vitest'
import { openShippedTable } from '../../adapters/node/prices/index.ts'
import { toToml } from '../../adapters/node/prices/to-toml.ts'
import { completion } from '../support/answers.ts'
import { keyedGateway, masterKey } from '../support/keyed-gateway.ts'
import { json, type Responder } from '../support/scripted-upstream.ts'

/*
 * Requests that cost a multiple of the standard price of a short prompt, at the list prices of the shipped table: what
 * is reserved covers the bill, and the bill is what is charged. Estimates are bytes divided by four.
 */

interface Case {
  readonly kind: 'openai' | 'anthropic'
  readonly model: string
  readonly prompt: number
  /** The bound of the output, and what is generated. */
  readonly output: readonly [bound: number, generated: number]
  readonly ask?: object
  /** What the answer says besides the plain counts. */
  readonly answered?: object
  readonly usage?: object
  /** Claude keeps the prompt for an hour. */
  readonly isCachedLong?: boolean
  /** US dollars. */
  readonly bill: number
  readonly reserved: number
}

const cases: Readonly<Record<string, Case>> = {
  'claude-opus-5-5, 150,000 tokens of the prompt kept for an hour': {
    kind: 'anthropic',
    model: 'claude-opus-5-5',
    prompt: 150_000,
    output: [500, 300],
    isCachedLong: true,
    bill: 1.206,
    reserved: 1.21,
  },
  'gpt-6-luna, 200,000 tokens of the prompt, which OpenAI keeps by itself': {
    kind: 'openai',
    model: 'gpt-6-luna',
    prompt: 200_000,
    output: [600, 400],
    usage: { prompt_tokens_details: { cache_write_tokens: 200_000 } },
    bill: 0.0252,
    reserved: 0.0252,
  },
  'gpt-6.1-sol, 300,000 tokens of the prompt': {
    kind: 'openai',
    model: 'gpt-6.1-sol',
    prompt: 300_000,
    output: [2_000, 2_000],
    bill: 1.23,
    // OpenAI may write all of it to its cache.
    reserved: 1.53,
  },
  'claude-haiku-5-5, 120,000 tokens of the prompt': {
    kind: 'anthropic',
    model: 'claude-haiku-5-5',
    prompt: 120_000,
    output: [2_000, 2_000],
    bill: 0.065,
    reserved: 0.065,
  },
  'gpt-6.1-sol, the tier priority': {
    kind: 'openai',
    model: 'gpt-6.1-sol',
    prompt: 20_000,
    output: [2_000, 2_000],
    ask: { service_tier: 'priority' },
    answered: { service_tier: 'priority' },
    bill: 0.12,
    reserved: 0.14,
  },
  'gpt-6.1-sol, the tier flex': {
    kind: 'openai',
    model: 'gpt-6.1-sol',
    prompt: 20_000,
    output: [2_000, 2_000],
    ask: { service_tier: 'flex' },
    answered: { service_tier: 'flex' },
    bill: 0.03,
    // The standard tier may serve it.
    reserved: 0.07,
  },
  'claude-opus-5-5, fast': {
    kind: 'anthropic',
    model: 'claude-opus-5-5',
    prompt: 20_000,
    output: [2_000, 2_000],
    ask: { speed: 'fast' },
    usage: { speed: 'fast' },
    bill: 0.24,
    reserved: 0.24,
  },
  'claude-opus-5-5, fast, in the United States': {
    kind: 'anthropic',
    model: 'claude-opus-5-5',
    prompt: 20_000,
    output: [2_000, 2_000],
    ask: { speed: 'fast', inference_geo: 'us' },
    usage: { speed: 'fast', inference_geo: 'us' },
    bill: 0.264,
    reserved: 0.264,
  },
  'gpt-6-astra, ultrafast, 300,000 tokens of the prompt': {
    kind: 'openai',
    model: 'gpt-6-astra',
    prompt: 300_000,
    output: [2_000, 2_000],
    ask: { service_tier: 'ultrafast' },
    answered: { service_tier: 'ultrafast' },
    bill: 36.9,
    reserved: 45.9,
  },
}

async function writeConfig({ kind, model }: Case): Promise<string> {
  const found = (await openShippedTable()).find(kind, model)
  if (!found) throw new Error(`the table has no ${model} of ${kind}`)
  const { prices = [], ...base } = found.settings
  const write = (settings: object) =>
    Object.entries(settings)
      .map(([name, value]) => `${name} = ${toToml(value)}\n`)
      .join('')
  return (
    `[[providers]]\nname = "p"\nkind = "${kind}"\napi_key_env = "P_KEY"\n` +
    `[[providers.models]]\nid = "m"\nupstream_id = "${model}"\n${write(base)}` +
    prices.map((entry) => `[[providers.models.prices]]\n${write(entry)}`).join('')
  )
}

function toBody({ prompt, output: [bound], ask, isCachedLong = false }: Case): object {
  const text = 'x'.repeat(4 * prompt)
  const cache_control = { type: 'ephemeral', ttl: '1h' }
  const content = isCachedLong ? [{ type: 'text', text, cache_control }] : text
  return { model: 'm', max_tokens: bound, messages: [{ role: 'user', content }], ...ask }
}

function toAnswer(given: Case): Responder {
  const { kind, prompt, output, answered, usage, isCachedLong } = given
  const [, generated] = output
  if (kind === 'openai') {
    const counts = { prompt_tokens: prompt, completion_tokens: generated }
    return json(completion('Hi', { usage: { ...counts, ...usage }, ...answered }))
  }
  const counts = isCachedLong
    ? {
        input_tokens: 0,
        cache_creation_input_tokens: prompt,
        cache_creation: { ephemeral_1h_input_tokens: prompt },
      }
    : { input_tokens: prompt }
  const content = [{ type: 'text', text: 'Hi' }]
  const message = { type: 'message', role: 'assistant', content, stop_reason: 'end_turn' }
  return json({ ...message, usage: { ...counts, output_tokens: generated, ...usage } })
}

test.each(Object.entries(cases))('%s', async (_, given) => {
  const gateway = await keyedGateway(await writeConfig(given), {
    env: { P_KEY: 'k', GATEWAY_MASTER_KEY: masterKey },
  })
  const key = await gateway.key({ budget_max: 100 })
  const path = given.kind === 'openai' ? '/v1/chat/completions' : '/v1/messages'
  gateway.upstream.next(toAnswer(given))
  expect((await gateway.ask(key, toBody(given), path)).status).toBe(200)
  const [row] = await gateway.rows()
  expect(Number(row?.cost) / 1e9).toBeCloseTo(given.bill, 9)
  const { body } = await gateway.admin('GET', '/admin/usage/export?since=0')
  const [shown] = body['rows'] as { reserved: number }[]
  // The estimate of a prompt is within a hundredth of its tokens.
  expect(shown?.reserved).toBeGreaterThanOrEqual(given.bill)
  expect(Math.abs((shown?.reserved ?? 0) / given.reserved - 1)).toBeLessThan(0.01)
})
