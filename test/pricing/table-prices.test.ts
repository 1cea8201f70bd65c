import { describe, expect, test } from 'vitest'
import { openPrices } from '../../adapters/node/prices/index.ts'
import { ConfigError } from '../../src/core/start-error.ts'
import { createGateway } from '../../src/index.ts'
import { keyedGateway, prompt, used } from '../support/keyed-gateway.ts'

const provider = (models: string, lines = '', kind = 'openai') => `
[[providers]]
name = "p"
kind = "${kind}"
api_key_env = "P_KEY"
${lines}
models = [${models}]
`

/** The cost of a million tokens of input and as many of output, in US dollars. */
async function costOf(model: string, config: string): Promise<unknown> {
  const gateway = await keyedGateway(config, { openPrices })
  const held = await gateway.key()
  gateway.upstream.always(used(1_000_000, 1_000_000))
  const { headers, status } = await gateway.ask(held, prompt(8, { model }))
  return status === 200 ? Number(headers.get('x-gateway-cost')) : status
}

// The table has GPT-4o at 2.50 and 10 dollars, and Claude 2 at 8 and 24.
describe('prices = "table"', () => {
  test.each([
    ['of an entry', 'gpt-4o', provider('{ id = "gpt-4o", prices = "table" }'), 12.5],
    [
      'by the upstream id',
      'm',
      provider('{ id = "m", upstream_id = "gpt-4o", prices = "table" }'),
      12.5,
    ],
    ['of a pattern', 'o/gpt-4o', provider('{ id = "o/*", prices = "table" }'), 12.5],
    [
      'except what the entry has',
      'o/gpt-4o',
      provider('{ id = "o/*", cost_per_1m_output = 1, prices = "table" }'),
      3.5,
    ],
    [
      'at any address',
      'gpt-4o',
      provider('{ id = "gpt-4o", prices = "table" }', 'base_url = "http://proxy.test/v1"'),
      12.5,
    ],
    [
      'of the vendor of the address',
      'grok-4-0709',
      provider('{ id = "*", prices = "table" }', 'base_url = "https://api.x.ai/v1"'),
      18,
    ],
    [
      'of the profile',
      'grok-4-0709',
      provider('{ id = "*", prices = "table" }', 'base_url = "http://p.test"\nprofile = "xai"'),
      18,
    ],
    [
      'with the factor of the provider',
      'gpt-4o',
      provider('{ id = "gpt-4o", prices = "table" }', 'price_multiplier = 2'),
      25,
    ],
    ['0 for a model that it lacks', 'o/none', provider('{ id = "o/*", prices = "table" }'), 0],
    ['0 without it', 'o/gpt-4o', provider('{ id = "o/*" }'), 0],
  ])('are those of the table %s', async (_, model, config, cost) => {
    expect(await costOf(model, config)).toBe(cost)
  })

  test('requests to a model that the table lacks are refused where the cost must be known', async () => {
    const gateway = await keyedGateway(provider('{ id = "o/*", prices = "table" }'), {
      openPrices,
      auth: 'unpriced = "refuse"',
    })
    const held = await gateway.key()
    gateway.upstream.always(used(8))
    expect((await gateway.ask(held, prompt(8, { model: 'o/none' }))).status).toBe(402)
    expect((await gateway.ask(held, prompt(8, { model: 'o/gpt-4o' }))).status).toBe(200)
  })

  test('a priority tier of the table is charged as the vendor says it', async () => {
    const gateway = await keyedGateway(provider('{ id = "o/*", prices = "table" }'), { openPrices })
    const held = await gateway.key()
    gateway.upstream.always(used(1_000_000, 0))
    await gateway.ask(held, prompt(8, { model: 'o/gpt-4o', service_tier: 'priority' }))
    const [row] = await gateway.rows()
    expect(row).toMatchObject({ model: 'o/gpt-4o', tier: 'priority' })
  })

  test('the table is not opened for a configuration that does not need it', async () => {
    const never = () => Promise.reject(new Error('it was opened'))
    const { get } = await keyedGateway(provider('{ id = "m" }'), { openPrices: never })
    expect((await get('/health')).status).toBe(200)
  })

  test('a host without a table refuses it', async () => {
    const config = provider('{ id = "m", prices = "table" }')
    const error: unknown = await createGateway({ config }).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(ConfigError)
    expect(String(error)).toContain(
      'providers[0].models[0].prices: "table" needs a table of prices',
    )
  })
})
