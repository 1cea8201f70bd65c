import { expect, test } from 'vitest'
import { testGateway } from '../support/gateway.ts'
import { masterKey, pricedProvider } from '../support/keyed-gateway.ts'
import { MemoryStore } from '../support/memory-store.ts'
import { reloadingGateway, withAuth } from '../support/reloading-gateway.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const warning = 'provider p has no credential: the variable P_KEY is unset or empty'

test('the overview of a gateway shows where each credential comes from', async () => {
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

test('a key that is stored is a credential', async () => {
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

test('a missing credential is warned about at the start and at a reload', async () => {
  const { change, said, log } = await reloadingGateway(pricedProvider, {
    env: { GATEWAY_MASTER_KEY: masterKey },
  })
  expect(log).toContainEqual({ level: 'warn', message: warning, fields: {} })
  said()
  await change(pricedProvider.replace('P_KEY', 'OTHER_KEY'))
  expect(said()).toContain(
    'warn provider p has no credential: the variable OTHER_KEY is unset or empty',
  )
})
