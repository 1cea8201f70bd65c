import { describe, expect, test } from 'vitest'
import { StartError } from '../../src/index.ts'
import { testGateway } from '../support/gateway.ts'
import {
  type ClientKey,
  errorIn,
  type KeyedGateway,
  masterKey,
  pricedProvider,
  prompt,
  used,
} from '../support/keyed-gateway.ts'
import { MemoryStore } from '../support/memory-store.ts'
import { reloadingGateway, withAuth } from '../support/reloading-gateway.ts'
import { json, type ScriptedUpstream } from '../support/scripted-upstream.ts'

const env = { GATEWAY_MASTER_KEY: masterKey }
const stored = 'sk-stored-canary-51'
const unnamed = pricedProvider.replace('api_key_env = "P_KEY"', 'base_url = "https://one.test"')

/** Returns the Authorization header of the next call; the error code when no call is made. */
async function sentCredential(
  { ask, upstream }: Pick<KeyedGateway, 'ask'> & { readonly upstream: ScriptedUpstream },
  client: ClientKey,
): Promise<unknown> {
  upstream.always(used(9))
  const calls = upstream.requests.length
  const answer = await ask(client, prompt())
  if (upstream.requests.length === calls) return errorIn(answer)['code']
  return upstream.requests.at(-1)?.headers['authorization']
}

describe('a stored provider key', () => {
  test.each([
    ['is unset', pricedProvider, env],
    ['is empty', pricedProvider, { ...env, P_KEY: '' }],
  ])(
    'a stored key is sent from the next request on when the variable %s',
    async (_, config, variables) => {
      const gateway = await reloadingGateway(config, { env: variables })
      const client = await gateway.key()
      expect(await sentCredential(gateway, client)).toBe('LM-3006')
      const { status, body } = await gateway.admin('PUT', '/admin/provider-keys/p', { key: stored })
      expect([status, body]).toEqual([204, { text: '' }])
      expect(await sentCredential(gateway, client)).toBe(`Bearer ${stored}`)
    },
  )

  test('a stored key is sent when no variable is named', async () => {
    const gateway = await reloadingGateway(unnamed)
    const client = await gateway.key()
    expect(await sentCredential(gateway, client)).toBeUndefined()
    await gateway.admin('PUT', '/admin/provider-keys/p', { key: stored })
    expect(await sentCredential(gateway, client)).toBe(`Bearer ${stored}`)
  })

  test('the variable overrides the stored key while it is set', async () => {
    const store = new MemoryStore()
    const gateway = await reloadingGateway(pricedProvider, {
      env: { ...env, P_KEY: 'of-env' },
      store,
    })
    const client = await gateway.key()
    await gateway.admin('PUT', '/admin/provider-keys/p', { key: stored })
    expect(await sentCredential(gateway, client)).toBe('Bearer of-env')
    await gateway.change(pricedProvider.replace('"P_KEY"', '"OTHER"'))
    expect(await sentCredential(gateway, client)).toBe(`Bearer ${stored}`)
  })

  test('a stored key can be replaced and deleted', async () => {
    const gateway = await reloadingGateway(pricedProvider, { env })
    const client = await gateway.key()
    await gateway.admin('PUT', '/admin/provider-keys/p', { key: 'first' })
    await gateway.admin('PUT', '/admin/provider-keys/p', { key: 'second' })
    expect(await sentCredential(gateway, client)).toBe('Bearer second')
    expect((await gateway.admin('DELETE', '/admin/provider-keys/p')).status).toBe(204)
    expect(await sentCredential(gateway, client)).toBe('LM-3006')
  })

  test('a stored key survives a restart and any reload', async () => {
    const store = new MemoryStore()
    const first = await testGateway(withAuth(pricedProvider), { env, openStore: async () => store })
    const headers = { authorization: `Bearer ${masterKey}` }
    const body = JSON.stringify({ key: stored })
    await first.get('/admin/provider-keys/p', { method: 'PUT', headers, body })
    await first.gateway.close()
    store.closed = false

    const gateway = await reloadingGateway(pricedProvider, { env, store })
    const client = await gateway.key()
    expect(await sentCredential(gateway, client)).toBe(`Bearer ${stored}`)
    await gateway.change(pricedProvider.replace('input = 1', 'input = 2'))
    expect(await sentCredential(gateway, client)).toBe(`Bearer ${stored}`)
  })

  test('a stored key is sealed and appears in no row, log, answer or metric', async () => {
    const gateway = await reloadingGateway(pricedProvider, { env })
    const client = await gateway.key()
    const answers = [await gateway.admin('PUT', '/admin/provider-keys/p', { key: stored })]
    await sentCredential(gateway, client)
    for (const path of ['/admin/config', '/metrics', '/health/providers', '/v1/models']) {
      answers.push(await gateway.admin('GET', path))
    }
    const rows = await gateway.store.readSealed('provider-key')
    expect(rows).toMatchObject([{ purpose: 'provider-key', name: 'p' }])
    expect(JSON.stringify([rows, gateway.log, answers])).not.toContain('canary')
  })

  test('a stored key is masked when a provider repeats it', async () => {
    const gateway = await reloadingGateway(pricedProvider, { env })
    const client = await gateway.key()
    await gateway.admin('PUT', '/admin/provider-keys/p', { key: stored })
    const body = { error: { message: `no such key: ${stored}` } }
    gateway.upstream.next(json(body, { status: 400 }))
    const error = errorIn(await gateway.ask(client, prompt()))
    expect(error).toMatchObject({ code: 'LM-3003' })
    expect(JSON.stringify(error)).not.toContain('canary')
  })

  test.each(['team/a', 'team%2Fa'])(
    'a key for a provider with a slash in its name is stored: %s',
    async (name) => {
      const gateway = await reloadingGateway(pricedProvider.replace('"p"', '"team/a"'), { env })
      const client = await gateway.key()
      const { status } = await gateway.admin('PUT', `/admin/provider-keys/${name}`, { key: stored })
      expect([status, await sentCredential(gateway, client)]).toEqual([204, `Bearer ${stored}`])
    },
  )

  test.each([
    ['unknown-provider', { key: stored }, 'name'],
    ['p', {}, 'key'],
    ['p', { key: '' }, 'key'],
    ['p', { key: ' padded ' }, 'key'],
    ['p', { key: 'two\nlines' }, 'key'],
    ['p', { key: stored, more: 1 }, 'more'],
  ])(
    'an invalid key is refused with LM-1001, and nothing is stored: %s %j',
    async (name, body, param) => {
      const gateway = await reloadingGateway(pricedProvider, { env })
      const answer = await gateway.admin('PUT', `/admin/provider-keys/${name}`, body)
      expect([answer.status, errorIn(answer)['code'], errorIn(answer)['param']]).toEqual([
        400,
        'LM-1001',
        param,
      ])
      expect(await gateway.store.readSealed('provider-key')).toEqual([])
    },
  )
})

describe('an invalid configuration file', () => {
  test('a stored key takes effect with the running configuration', async () => {
    const gateway = await reloadingGateway(pricedProvider, { env })
    const client = await gateway.key()
    gateway.file.write('providers = [')
    gateway.takeLogLines()
    const { status } = await gateway.admin('PUT', '/admin/provider-keys/p', { key: stored })
    expect([status, await sentCredential(gateway, client)]).toEqual([204, `Bearer ${stored}`])
    expect(gateway.takeLogLines()).toContainEqual(expect.stringMatching(/^error .*not TOML/))
  })

  test('storing a key also applies a valid change of the file that is still pending', async () => {
    const gateway = await reloadingGateway(pricedProvider, { env })
    const client = await gateway.key()
    gateway.file.write(withAuth(pricedProvider.replace('"m"', '"new"')))
    await gateway.admin('PUT', '/admin/provider-keys/p', { key: stored })
    const answer = await gateway.ask(client, prompt())
    expect(errorIn(answer)).toMatchObject({ code: 'LM-2001' })
  })
})

describe('stored keys that cannot be read', () => {
  test('an unavailable database makes a reload fail: it is counted, and the running configuration stays', async () => {
    const gateway = await reloadingGateway(pricedProvider, { env })
    const client = await gateway.key()
    await gateway.admin('PUT', '/admin/provider-keys/p', { key: stored })
    gateway.store.trouble = 'refuse'
    await gateway.change(pricedProvider.replace('"m"', '"new"'))
    expect(await sentCredential(gateway, client)).toBe(`Bearer ${stored}`)
    expect(await gateway.count('gateway_config_reload_failures_total')).toBe(1)
    expect(gateway.takeLogLines().at(-1)).toBe(
      'error the configuration cannot be reloaded the database is out',
    )
    gateway.store.trouble = 'none'
  })

  test('an altered key makes a reload, a PUT and a boot fail, and the running configuration stays', async () => {
    const store = new MemoryStore()
    const gateway = await reloadingGateway(pricedProvider, { env, store })
    const client = await gateway.key()
    await gateway.admin('PUT', '/admin/provider-keys/p', { key: stored })
    const [row] = await store.readSealed('provider-key')
    if (!row) throw new Error('nothing is stored')
    await store.putSealed({
      ...row,
      sealed: row.sealed.replace(/.$/, (end) => (end === '0' ? '1' : '0')),
    })

    await gateway.change(pricedProvider.replace('"m"', '"new"'))
    expect(gateway.log.at(-1)).toEqual({
      level: 'error',
      message: 'the configuration cannot be reloaded',
      fields: { reason: 'the stored key of provider p cannot be decrypted' },
    })
    expect(await sentCredential(gateway, client)).toBe(`Bearer ${stored}`)
    expect(await gateway.count('gateway_config_reload_failures_total')).toBe(1)
    const { hash } = (await gateway.admin('GET', '/admin/config')).body
    const put = await gateway.get('/admin/config', {
      method: 'PUT',
      headers: { authorization: `Bearer ${masterKey}`, 'if-match': String(hash) },
      body: withAuth(pricedProvider),
    })
    expect(put.status).toBe(500)
    const start = testGateway(gateway.file.text, { env, openStore: async () => store })
    await expect(start).rejects.toThrow(StartError)
    await expect(start).rejects.toThrow('the stored key of provider p cannot be decrypted')
    expect(store.closed).toBe(true)
    store.closed = false
    // Storing the key again repairs it.
    await gateway.admin('PUT', '/admin/provider-keys/p', { key: 'mended' })
    await gateway.change(pricedProvider)
    expect(await sentCredential(gateway, client)).toBe('Bearer mended')
  })
})

test('a start with the wrong master key says so', async () => {
  const store = new MemoryStore()
  const open = { openStore: async () => store }
  const first = await testGateway(withAuth(pricedProvider), { env, ...open })
  await first.gateway.close()
  store.closed = false
  const other = 'ab'.repeat(32)
  const start = testGateway(withAuth(pricedProvider), {
    env: { GATEWAY_MASTER_KEY: other },
    ...open,
  })
  const error: unknown = await start.catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(StartError)
  expect(String(error)).toContain('another master key')
  expect(String(error)).not.toContain(other)
  expect(store.closed).toBe(true)
})
