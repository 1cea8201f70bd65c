import { describe, expect, test } from 'vitest'
import { testGateway } from '../support/gateway.ts'
import { masterKey, pricedProvider } from '../support/keyed-gateway.ts'
import { MemoryStore } from '../support/memory-store.ts'
import { reloadingGateway, withAuth } from '../support/reloading-gateway.ts'
import { json } from '../support/scripted-upstream.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const warning = 'provider p has no credential: the variable P_KEY is unset or empty'

test('the overview shows where each credential comes from', async () => {
  const provider = (name: string, kind: string, more: string) =>
    `[[providers]]\nname = "${name}"\nkind = "${kind}"\n${more}\n`
  const { gateway } = await watchedGateway(
    provider('a', 'openai', 'api_key_env = "A_KEY"') +
      provider('b', 'vllm', 'base_url = "http://b.test/v1?key=canary"') +
      provider('c', 'mistral', '') +
      provider('d', 'cohere', 'api_key_env = "D_KEY"') +
      provider('e', 'demo', ''),
    { env: { A_KEY: 'canary' } },
  )
  const { providers, auth } = gateway.overview
  expect(providers.map(({ name, baseUrl, credential }) => [name, baseUrl, credential])).toEqual([
    ['a', 'https://api.openai.com/v1', 'present'],
    ['b', 'http://b.test/v1', 'not needed'],
    ['c', 'https://api.mistral.ai/v1', 'api_key_env is not set'],
    ['d', 'https://api.cohere.com', 'D_KEY is unset'],
    ['e', 'in this process', 'not needed'],
  ])
  expect(auth).toEqual({ enabled: false })
  expect(JSON.stringify(gateway.overview)).not.toContain('canary')
})

describe('keys from the environment', () => {
  const provider = (kind: string, more = 'api_key_env = "KEY"') =>
    `[[providers]]\nname = "p"\nkind = "${kind}"\n${more}\nmodels = [{ id = "m" }]\n`
  const request = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }

  test.each([
    ['openai', 'authorization', 'Bearer canary'],
    ['anthropic', 'x-api-key', 'canary'],
    ['google', 'x-goog-api-key', 'canary'],
    ['bedrock', 'authorization', 'Bearer canary'],
  ])('the key of %s is sent without the white space around it', async (kind, header, value) => {
    const gateway = await watchedGateway(provider(kind), { env: { KEY: ' \tcanary\r\n' } })
    gateway.upstream.always(json({}, { status: 400 }))
    await gateway.chat(request)
    expect(gateway.upstream.requests[0]?.headers).toMatchObject({ [header]: value })
  })

  test('keys in the variables of the AWS tools are trimmed too', async () => {
    const env = { AWS_BEARER_TOKEN_BEDROCK: 'canary\n' }
    const gateway = await watchedGateway(provider('bedrock', 'base_url = "eu-west-1"'), { env })
    gateway.upstream.always(json({}, { status: 400 }))
    await gateway.chat(request)
    expect(gateway.upstream.requests[0]?.headers).toMatchObject({ authorization: 'Bearer canary' })
  })

  const control =
    'it contains a control character, such as a line break, which a header cannot carry'
  const foreign = 'it contains a character outside Latin-1, which a header cannot carry'

  test.each([
    ['openai', 'canary\ncanary', control],
    ['anthropic', 'canary\u0000', control],
    ['cohere', 'canary…', foreign],
    ['bedrock', 'canary\u007fcanary', control],
    ['openai', '"canary"', 'the key is in quotes; remove them'],
    ['bedrock', "'canary'", 'the key is in quotes; remove them'],
    ['vertex_ai', `'{"type":"service_account"}'`, 'the key is in quotes; remove them'],
    ['bedrock', '{"api_key":', 'it starts with { but is not a valid JSON object'],
    ['vertex_ai', '{"type":', 'the credentials are not valid JSON'],
    ['vertex_ai', 'canary\ncanary', 'it is not JSON, a file path, an API key or an access token'],
  ])(
    'an unusable key of %s (%j) is named, and neither shown nor sent',
    async (kind, key, problem) => {
      const gateway = await watchedGateway(
        provider(
          kind,
          'api_key_env = "KEY"\nbase_url = "https://p.test/v1/projects/p/locations/l"',
        ),
        { env: { KEY: key } },
      )
      const message = `provider p has no usable credential in KEY: ${problem}`
      const { overview } = gateway.gateway
      expect(overview.warnings).toContain(message)
      expect(overview.providers).toMatchObject([
        { credential: 'KEY is not usable', missing: message },
      ])
      const { error } = await (await gateway.chat(request)).json()
      expect(error).toMatchObject({ code: 'LM-3006', message })
      expect(gateway.upstream.requests).toEqual([])
      expect(JSON.stringify([overview, gateway.log])).not.toContain('canary')
    },
  )

  test('a key of white space alone counts as missing', async () => {
    const { gateway } = await watchedGateway(provider('openai'), { env: { KEY: ' \n' } })
    expect(gateway.overview.warnings).toEqual([
      'provider p has no credential: the variable KEY is unset or empty',
    ])
  })
})

test('a stored key counts as a credential', async () => {
  const store = new MemoryStore()
  const options = { env: { GATEWAY_MASTER_KEY: masterKey }, openStore: async () => store }
  const before = await testGateway(withAuth(pricedProvider), options)
  expect(before.gateway.overview.warnings).toEqual([warning])
  await before.get('/admin/provider-keys/p', {
    method: 'PUT',
    headers: { authorization: `Bearer ${masterKey}` },
    body: '{"key":"canary"}',
  })

  const { gateway } = await testGateway(withAuth(pricedProvider), options)
  const { providers, auth, warnings } = gateway.overview
  expect(providers).toMatchObject([{ credential: 'stored', missing: undefined }])
  expect(auth).toEqual({ enabled: true, database: 'gateway.db' })
  expect(warnings).toEqual([])
})

test('a missing credential leaves a warning at the start and at a reload', async () => {
  const { change, takeLogLines, log } = await reloadingGateway(pricedProvider, {
    env: { GATEWAY_MASTER_KEY: masterKey },
  })
  expect(log).toContainEqual({ level: 'warn', message: warning, fields: {} })
  takeLogLines()
  await change(pricedProvider.replace('P_KEY', 'OTHER_KEY'))
  expect(takeLogLines()).toContain(
    'warn provider p has no credential: the variable OTHER_KEY is unset or empty',
  )
})
