import { describe, expect, test } from 'vitest'
import { fileWithModels, listProblems } from './support.ts'

const longestDelay = 2 ** 31 - 1

interface Range {
  readonly setting: string
  readonly min: number
  readonly max: number
}

/** Every setting that is a whole number, with its minimum and maximum. */
const ranges: readonly Range[] = [
  { setting: 'server.port', min: 1, max: 65_535 },
  { setting: 'server.body_limit', min: 1, max: longestDelay },
  { setting: 'server.answer_limit', min: 1, max: 67_108_864 },
  { setting: 'server.first_token_timeout_ms', min: 1, max: longestDelay },
  { setting: 'server.sse_heartbeat_ms', min: 0, max: longestDelay },
  { setting: 'auth.flush_interval_ms', min: 1, max: longestDelay },
  { setting: 'auth.retention_days', min: 0, max: 36_500 },
  { setting: 'auth.usage_channel_capacity', min: 1, max: 10_000_000 },
  { setting: 'auth.usage_batch_max', min: 1, max: 100_000 },
  { setting: 'auth.usage_flush_ms', min: 1, max: longestDelay },
  { setting: 'auth.reserve_output_tokens', min: 0, max: 1_000_000_000 },
  { setting: 'server.max_connections_per_address', min: 0, max: 1_000_000 },
  { setting: 'server.drain_delay_ms', min: 0, max: longestDelay },
  { setting: 'telemetry.max_series', min: 1, max: 1_000_000 },
  { setting: 'resilience.retry_max_attempts', min: 1, max: 100 },
  { setting: 'resilience.retry_base_ms', min: 0, max: longestDelay },
  { setting: 'resilience.retry_max_ms', min: 0, max: longestDelay },
  { setting: 'resilience.retry_after_max_ms', min: 0, max: longestDelay },
  { setting: 'resilience.circuit_failure_threshold', min: 1, max: 1_000_000 },
  { setting: 'resilience.circuit_cooldown_ms', min: 0, max: longestDelay },
  { setting: 'resilience.connect_timeout_ms', min: 1, max: longestDelay },
  { setting: 'resilience.total_timeout_ms', min: 1, max: longestDelay },
  { setting: 'resilience.health_check_interval_ms', min: 1, max: longestDelay },
  { setting: 'image_fetch.max_bytes', min: 1, max: longestDelay },
  { setting: 'image_fetch.timeout_ms', min: 1, max: longestDelay },
  { setting: 'image_fetch.max_images', min: 1, max: 1000 },
  { setting: 'webhooks.channel_capacity', min: 1, max: 1_000_000 },
  { setting: 'webhooks.timeout_ms', min: 1, max: longestDelay },
  { setting: 'webhooks.max_attempts', min: 1, max: 100 },
  { setting: 'webhooks.retry_base_ms', min: 0, max: longestDelay },
]

const withWebhooks = 'auth.enabled = true\nwebhooks.url = "https://hooks.example.com"\n'

describe.each(ranges)('$setting is a whole number from $min to $max', ({ setting, min, max }) => {
  const file = (value: unknown) => `${withWebhooks}${setting} = ${value}`
  const rule = `${setting} (line 3): must be a whole number from ${min} to ${max}`

  test('both ends of the range are allowed', async () => {
    expect(await listProblems(file(min))).toEqual([])
    expect(await listProblems(file(max))).toEqual([])
  })

  test.each([
    min - 1,
    max + 1,
    -1,
    min + 0.5,
    'inf',
    '-inf',
    'nan',
    '1e400',
    '10000000000000000000',
  ])('%s is refused', async (value) => {
    const message = value === 0 ? rule.replace('must', 'must not be 0: must') : rule
    expect(await listProblems(file(value))).toEqual([message])
  })

  test.each(['"1"', 'true', '[1]', '1979-05-27'])('%s is refused', async (value) => {
    expect(await listProblems(file(value))).toEqual([rule])
  })
})

test.each([
  'cost_per_1m_input',
  'cost_per_1m_output',
  'cost_per_1m_cached_input',
  'cost_per_1m_cache_write',
  'cost_per_1m_cache_write_1h',
  'cost_per_1k_searches',
  'cost_per_1k_web_searches',
  'tool_costs_per_1k.web_search',
])('%s is an amount from 0 to 1000000 US dollars', async (price) => {
  const rule = `providers[0].models[0].${price} (line 6): must be a number from 0 to 1000000`
  for (const value of ['0', '0.075', '1e6']) {
    expect(await listProblems(fileWithModels({ m: `${price} = ${value}` }))).toEqual([])
  }
  for (const value of ['-0.01', '1e7', 'inf', 'nan', '"1"', '10000000000000000000']) {
    expect(await listProblems(fileWithModels({ m: `${price} = ${value}` }))).toEqual([rule])
  }
})

test('a max_output_tokens of 0 is refused', async () => {
  expect(await listProblems(fileWithModels({ m: 'max_output_tokens = 0' }))).toEqual([
    'providers[0].models[0].max_output_tokens (line 6): must not be 0: must be a whole number from 1 to 1000000000',
  ])
})

test.each(['connect_timeout_ms', 'first_token_timeout_ms', 'total_timeout_ms'])(
  "a provider's own %s must not be 0",
  async (setting) => {
    const file = `[[providers]]\nname = "a"\nkind = "openai"\n${setting} = 0`
    expect(await listProblems(file)).toEqual([
      `providers[0].${setting} (line 4): must not be 0: must be a whole number from 1 to ${longestDelay}`,
    ])
  },
)

test.each([
  ['latency_ms', '-1', `must be a whole number from 0 to ${longestDelay}`],
  ['tokens_per_second', '-1', 'must be a number from 0 to 1000000'],
  ['failure_rate', '1.01', 'must be a number from 0 to 1'],
])('a demo provider refuses %s = %s', async (setting, value, rule) => {
  const file = `[[providers]]\nname = "a"\nkind = "demo"\n${setting} = ${value}`
  expect(await listProblems(file)).toEqual([`providers[0].${setting} (line 4): ${rule}`])
})
