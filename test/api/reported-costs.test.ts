import { describe, expect, test } from 'vitest'
import { kinds } from '../../src/providers/index.ts'
import { listProblems } from '../config/support.ts'
import { completion, done, hello, makeChunk, role, stop } from '../support/answers.ts'
import { series } from '../support/exposition.ts'
import {
  type KeyedGateway,
  keyedGateway,
  pricedProvider,
  prompt,
  readSpend,
} from '../support/keyed-gateway.ts'
import { json, type Responder, stream } from '../support/scripted-upstream.ts'
import { streamed } from '../support/stream-client.ts'

/*
 * `cost = "reported"`: a request costs what the vendor says in its answer.
 */

const counts = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 }
/** 100 tokens of input and 10 of output. */
const calculated = 120_000n

const ofKind = (kind: string, settings: string, ofModel = '') =>
  pricedProvider.replace('kind = "openai"', `kind = "${kind}"\n${settings}`).concat(ofModel)
const reported = 'cost = "reported"'
const answer = (usage: object, more: object = {}) =>
  json(completion('Hi', { usage: { ...counts, ...usage }, ...more }))

async function countSeries({ get }: KeyedGateway, name: string): Promise<number | undefined> {
  const metrics = await (await get('/metrics')).text()
  return series(metrics, `gateway_${name}_total`)[0]?.value
}

describe('an answer that states its cost', () => {
  test.each<[string, string, Responder, bigint]>([
    ['xai', reported, answer({ cost_in_usd_ticks: 12_345 }), 1_235n],
    ['perplexity', reported, answer({ cost: { total_cost: 0.006 } }), 6_000_000n],
    ['openrouter', reported, answer({ cost: 0.0001234567891, cost_details: {} }), 123_457n],
    ['openai', `${reported}\ncost_field = "cost"`, answer({}, { cost: 0.25 }), 250_000_000n],
    [
      'openai',
      `${reported}\ncost_field = "a.b-c.d"`,
      answer({}, { a: { 'b-c': { d: '0.5' } } }),
      500_000_000n,
    ],
    [
      'openai',
      `${reported}\ncost_field = "usage.x"\ncost_unit = "usd_ticks"`,
      answer({ x: 11 }),
      2n,
    ],
  ])('costs that: %s, %s', async (kind, settings, responder, cost) => {
    const gateway = await keyedGateway(ofKind(kind, settings))
    const key = await gateway.key({ budget_max: 1 })
    gateway.upstream.next(responder)
    const { headers } = await gateway.ask(key, prompt())
    expect(Number(headers.get('x-gateway-cost')) * 1e9).toBeCloseTo(Number(cost), 3)
    expect(await gateway.rows()).toMatchObject([
      { cost, costReported: cost, costSource: 'reported', tokensIn: 100 },
    ])
    const { body } = await gateway.admin('GET', '/admin/usage/export')
    expect(body['rows']).toMatchObject([{ cost_calculated: Number(calculated) / 1e9 }])
    expect(await readSpend(gateway, key.id)).toBe(Number(cost) / 1e9)
    expect(await countSeries(gateway, 'reported_cost_missing')).toBeUndefined()
  })

  test('costs that in a stream', async () => {
    const gateway = await keyedGateway(ofKind('openai', `${reported}\ncost_field = "cost"`))
    const key = await gateway.key()
    const usage = makeChunk({ choices: [], usage: counts, cost: 0.5 })
    gateway.upstream.next(stream([role, hello, stop, usage, done]))
    await (await gateway.chat(streamed(), { headers: key.headers })).text()
    expect(await gateway.rows()).toMatchObject([{ cost: 500_000_000n, costSource: 'reported' }])
  })

  test('costs that in the Responses API, whole and streamed', async () => {
    const settings = `${reported}\ncost_field = "usage.total"\nresponses = true`
    const gateway = await keyedGateway(ofKind('openai', settings))
    const key = await gateway.key()
    const response = {
      id: 'resp_1',
      status: 'completed',
      output: [{ type: 'message', content: [{ type: 'output_text', text: 'Hi' }] }],
      usage: { input_tokens: 100, output_tokens: 10, total: 0.25 },
    }
    const event = `event: response.completed\ndata: ${JSON.stringify({ type: 'response.completed', response })}\n\n`
    gateway.upstream.next(json(response), stream([event]))
    await gateway.ask(key, { model: 'm', input: 'Hi' }, '/v1/responses')
    await gateway.ask(key, { model: 'm', input: 'Hi', stream: true }, '/v1/responses')
    const row = { cost: 250_000_000n, costSource: 'reported' }
    expect(await gateway.rows()).toMatchObject([row, row])
  })

  test('may cost more than was reserved: all of it is charged, and counted', async () => {
    const gateway = await keyedGateway(ofKind('xai', reported))
    const key = await gateway.key({ budget_max: 1 })
    gateway.upstream.next(answer({ cost_in_usd_ticks: 20_000_000_000 }))
    await gateway.ask(key, prompt(8, { max_tokens: 10 }))
    expect(await readSpend(gateway, key.id)).toBe(2)
    await gateway.rows()
    const { body } = await gateway.admin('GET', '/admin/usage/export')
    expect(body['rows']).toMatchObject([{ cost: 2, reserved: 0.000028, cost_calculated: 0.00012 }])
    expect(await countSeries(gateway, 'cost_above_reserved')).toBe(1)
  })

  test('costs what the prices say without the setting, or with another one on the model', async () => {
    for (const config of [ofKind('xai', ''), ofKind('xai', reported, 'cost = "calculated"\n')]) {
      const gateway = await keyedGateway(config)
      gateway.upstream.next(answer({ cost_in_usd_ticks: 50 }))
      await gateway.ask(await gateway.key(), prompt())
      expect(await gateway.rows()).toMatchObject([
        { cost: calculated, costReported: 5n, costSource: 'calculated' },
      ])
    }
  })

  test('costs that where the model has no prices', async () => {
    const bare = ofKind('xai', '', `${reported}\n`).replaceAll(/cost_per.*\n/g, '')
    const gateway = await keyedGateway(bare)
    gateway.upstream.next(answer({ cost_in_usd_ticks: 50 }))
    await gateway.ask(await gateway.key(), prompt())
    expect(await gateway.rows()).toMatchObject([{ cost: 5n, costSource: 'reported' }])
  })
})

describe('an answer that states no usable cost', () => {
  test.each<[string, object]>([
    ['none', {}],
    ['0 although its prices are not', { cost_in_usd_ticks: 0 }],
    ['a negative one', { cost_in_usd_ticks: -5 }],
    ['a text', { cost_in_usd_ticks: 'five' }],
    ['a fraction of a tick', { cost_in_usd_ticks: 1.5 }],
  ])('costs what the prices say, and is counted: %s', async (_, usage) => {
    const gateway = await keyedGateway(ofKind('xai', reported))
    gateway.upstream.next(answer(usage))
    await gateway.ask(await gateway.key(), prompt())
    expect(await gateway.rows()).toMatchObject([{ cost: calculated, costSource: 'calculated' }])
    expect(await countSeries(gateway, 'reported_cost_missing')).toBe(1)
  })
})

describe('the settings', () => {
  test.each<[string, string, string]>([
    ['openai', reported, 'needs cost_field: answers of kind "openai" do not say what they cost'],
    ['openai', 'cost_unit = "usd"', 'needs cost_field'],
    ['anthropic', 'cost_field = "cost"', 'kind "anthropic" does not have this setting'],
    [
      'openai',
      'cost_field = "a..b"',
      'must be names of members, joined by ".", such as "usage.total_cost"',
    ],
  ])('%s with %s: %s', async (kind, settings, problem) => {
    expect(await listProblems(ofKind(kind, settings), {}, kinds)).toEqual([
      expect.stringContaining(problem),
    ])
  })
})
