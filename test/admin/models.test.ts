import { expect, test } from 'vitest'
import { keyedGateway } from '../support/keyed-gateway.ts'
import { settled } from '../support/manual-clock.ts'
import { json, ScriptedUpstream } from '../support/scripted-upstream.ts'

const config = `
[[providers]]
name = "p"
kind = "openai"
api_key_env = "P_KEY"
discover = true
[[providers.models]]
id = "m"
upstream_id = "upstream-m"
context_window = 200000
max_output_tokens = 8000
cost_per_1m_input = 1.25
cost_per_1m_output = 10
fallbacks = ["n"]
[[providers.models]]
id = "n"
[[providers.models]]
id = "lab/*"
[[routes]]
id = "r"
strategy = "weighted"
targets = [{ model = "m", weight = 1 }]
`

async function readModels(text: string, list: readonly string[] = []) {
  const upstream = new ScriptedUpstream().always(json({ data: list.map((id) => ({ id })) }))
  const gateway = await keyedGateway(text, { upstream: upstream.port })
  await settled()
  const { body } = await gateway.admin('GET', '/admin/models')
  return body as { models: Record<string, unknown>[]; discovered: unknown }
}

test('GET /admin/models shows the models of the configuration with their limits, chains and prices', async () => {
  const { models } = await readModels(config)
  expect(models.map(({ id }) => id)).toEqual(['m', 'n', 'lab/*'])
  const [first, second, pattern] = models
  expect(first).toMatchObject({
    provider: 'p',
    kind: 'openai',
    upstream_id: 'upstream-m',
    is_pattern: false,
    context_window: 200_000,
    max_input_tokens: null,
    max_output_tokens: 8000,
    fallbacks: ['n'],
    prices: { input_per_1m: 1.25, output_per_1m: 10, cached_input_per_1m: 1.25 },
    prices_vary: false,
    cost_reported: false,
    missing_prices: [],
  })
  expect(second).toMatchObject({ upstream_id: 'n', fallbacks: [], prices: null })
  expect(second?.['missing_prices']).toContain('cost_per_1m_input')
  expect(pattern).toMatchObject({ is_pattern: true, fallbacks: null })
})

test('the models that a vendor lists and a pattern serves are listed beside them', async () => {
  const { discovered } = await readModels(config, ['small', 'large'])
  expect(discovered).toEqual([
    { id: 'lab/small', provider: 'p', capabilities: ['chat'] },
    { id: 'lab/large', provider: 'p', capabilities: ['chat'] },
  ])
})

test('prices that depend on more than the kind of token are marked', async () => {
  const entry = '[[providers.models.prices]]\nabove_input = 100000\ncost_per_1m_input = 2'
  const text = config.replace('fallbacks = ["n"]', `fallbacks = ["n"]\n${entry}`)
  const { models } = await readModels(text)
  expect(models[0]).toMatchObject({ prices_vary: true, prices: { input_per_1m: 1.25 } })
})
