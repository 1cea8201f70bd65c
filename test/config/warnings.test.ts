import { describe, expect, test } from 'vitest'
import { fileWithModels, warningsOf } from './support.ts'

describe('a model without a price', () => {
  const authOn = 'auth.enabled = true\n'

  test('is warned about by name when auth is on', async () => {
    const file = fileWithModels({ a: '', b: 'cost_per_1m_input = 1', c: '' })
    expect(await warningsOf(authOn + file)).toEqual([
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
  ])('does not include one that says %s = 0', async (price) => {
    expect(await warningsOf(authOn + fileWithModels({ a: `${price} = 0` }))).toEqual([])
  })

  test('is fine when auth is off', async () => {
    expect(await warningsOf(fileWithModels({ a: '' }))).toEqual([])
  })
})

function fetching(lines: string): string {
  return `${fileWithModels({ a: '' })}[image_fetch]\n${lines}`
}

describe('image_fetch without limits', () => {
  test('is warned about when it is on', async () => {
    expect(await warningsOf(fetching('enabled = true'))).toEqual([
      'image_fetch is on while allowed_hosts and allowed_url_prefixes are empty, so images are fetched from any public host',
    ])
  })

  test.each([
    'enabled = false',
    'enabled = true\nallowed_hosts = ["example.com"]',
    'enabled = true\nallowed_url_prefixes = ["https://example.com/"]',
  ])('is not warned about with %j', async (lines) => {
    expect(await warningsOf(fetching(lines))).toEqual([])
  })
})

describe('webhooks without signing_key_env', () => {
  const file = `auth.enabled = true\nwebhooks.url = "https://hooks.example.com"\n`
  const model = fileWithModels({ a: 'cost_per_1m_input = 1' })

  test('are warned about', async () => {
    expect(await warningsOf(file + model)).toEqual([
      'webhooks.signing_key_env is not set, so deliveries are unsigned unless a signing key is stored',
    ])
  })

  test('are not warned about when it is named, whether or not the variable is set', async () => {
    expect(await warningsOf(`${file}webhooks.signing_key_env = "HOOK_SECRET"\n${model}`)).toEqual(
      [],
    )
  })
})

test('a file without a model is warned about', async () => {
  expect(await warningsOf('[[providers]]\nname = "a"\nkind = "openai"')).toEqual([
    'no model is configured, so the gateway cannot serve any request',
  ])
})
