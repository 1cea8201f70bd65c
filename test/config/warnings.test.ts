import { describe, expect, test } from 'vitest'
import { fileWithModels, listWarnings } from './support.ts'

describe('a model without a price', () => {
  const authOn = 'auth.enabled = true\n'

  test('a model without a price causes a warning when auth is on', async () => {
    const file = fileWithModels({ a: '', b: 'cost_per_1m_input = 1', c: '' })
    expect(await listWarnings(authOn + file)).toEqual([
      'model "a" has no price, so it costs nothing and no budget limits it',
      'model "c" has no price, so it costs nothing and no budget limits it',
    ])
  })

  test.each([
    'cost_per_1m_input',
    'cost_per_1m_output',
    'cost_per_1m_cached_input',
    'cost_per_1m_cache_write',
    'cost_per_1m_cache_write_1h',
    'cost_per_1k_searches',
    'cost_per_1k_web_searches',
    'tool_costs_per_1k.maps',
  ])('a model with %s = 0 causes no warning', async (price) => {
    expect(await listWarnings(authOn + fileWithModels({ a: `${price} = 0` }))).toEqual([])
  })

  test.each([
    ['refuse_capped', 'requests of keys and groups with a cap'],
    ['refuse', 'requests'],
  ])('the warning says what %s refuses', async (unpriced, whose) => {
    const models = { a: 'cost_per_1m_input = 1', b: 'cost_per_1k_requests = 0' }
    const file = `auth.enabled = true\nauth.unpriced = "${unpriced}"\n${fileWithModels(models)}`
    expect(await listWarnings(file)).toEqual([
      `model "a" has no cost_per_1m_output, so auth.unpriced refuses ${whose} to it`,
    ])
  })

  test('a model without a price causes no warning when auth is off', async () => {
    expect(await listWarnings(fileWithModels({ a: '' }))).toEqual([])
  })
})

function fetching(lines: string): string {
  return `${fileWithModels({ a: '' })}[image_fetch]\n${lines}`
}

describe('image_fetch without limits', () => {
  test('image_fetch without limits causes a warning', async () => {
    expect(await listWarnings(fetching('enabled = true'))).toEqual([
      'image_fetch is on while allowed_hosts and allowed_url_prefixes are empty, so images are fetched from any public host',
    ])
  })

  test.each([
    'enabled = false',
    'enabled = true\nallowed_hosts = ["example.com"]',
    'enabled = true\nallowed_url_prefixes = ["https://example.com/"]',
  ])('image_fetch with %j causes no warning', async (lines) => {
    expect(await listWarnings(fetching(lines))).toEqual([])
  })
})

describe('webhooks without signing_key_env', () => {
  const file = `auth.enabled = true\nwebhooks.url = "https://hooks.example.com"\n`
  const model = fileWithModels({ a: 'cost_per_1m_input = 1' })

  test('webhooks without a signing_key_env cause a warning', async () => {
    expect(await listWarnings(file + model)).toEqual([
      'webhooks.signing_key_env is not set, so deliveries are unsigned unless a signing key is stored',
    ])
  })

  test('webhooks with a signing_key_env cause no warning, even when the variable is unset', async () => {
    expect(await listWarnings(`${file}webhooks.signing_key_env = "HOOK_SECRET"\n${model}`)).toEqual(
      [],
    )
  })

  test('messages of Slack need no key, and one beside them causes a warning', async () => {
    const slack = `${file}webhooks.format = "slack"\n`
    expect(await listWarnings(slack + model)).toEqual([])
    expect(
      await listWarnings(`${slack}webhooks.signing_key_env = "HOOK_SECRET"\n${model}`),
    ).toEqual(['webhooks.signing_key_env has no effect: the format of Slack has no signature'])
  })
})

test('a file without a model causes a warning', async () => {
  expect(await listWarnings('[[providers]]\nname = "a"\nkind = "openai"')).toEqual([
    'no model is configured, so the gateway cannot serve any request',
  ])
})

describe('a cache without effect', () => {
  test('a cache that no model allows causes a warning', async () => {
    expect(await listWarnings(`${fileWithModels({ a: '' })}[cache]\nenabled = true`)).toEqual([
      'cache.enabled is true, but no model sets cache = true, so no answer is cached',
    ])
  })

  test('a model that allows the cache while it is off causes a warning', async () => {
    expect(await listWarnings(fileWithModels({ a: 'cache = true' }))).toEqual([
      'model "a" sets cache = true, but cache.enabled is not true',
    ])
  })

  test('a cache that one model allows causes no warning', async () => {
    const file = fileWithModels({ a: 'cache = true', b: '' })
    expect(await listWarnings(`${file}[cache]\nenabled = true`)).toEqual([])
  })
})

test('a target without a price in a cheapest route is warned about', async () => {
  const file = fileWithModels({ a: 'cost_per_1m_input = 0', b: '', c: '' })
  const route = (strategy: string) =>
    `${file}[[routes]]\nid = "r"\nstrategy = "${strategy}"\ntargets = [{ model = "a" }, { model = "b" }]`
  expect(await listWarnings(route('cheapest'))).toEqual([
    'model "b" has no price, so route "r" takes it for the cheapest',
  ])
  expect(await listWarnings(route('fastest'))).toEqual([])
})
