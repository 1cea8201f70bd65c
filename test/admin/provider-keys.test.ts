import { beforeEach, describe, expect, test } from 'vitest'
import { openProviderKeys, providerKeyRoutes } from '../../src/admin/provider-keys.ts'
import { openMasterKey } from '../../src/auth/index.ts'
import { GatewayError } from '../../src/core/errors.ts'
import type { Reply } from '../../src/core/reply.ts'
import { createRouter } from '../../src/http/router.ts'
import { adminContext } from '../support/admin-context.ts'
import { noAudit } from '../support/audit.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { MemoryStore } from '../support/memory-store.ts'
import { openBodyLimiter } from '../support/open-body-limiter.ts'

const { sealer } = await openMasterKey('00112233445566778899aabbccddeeff'.repeat(2))
const canary = 'sk-canary-5b9f3d'

let store: MemoryStore
let reloads: Array<ReadonlyMap<string, string>>
let call: (method: string, path: string, body?: unknown) => Promise<Reply>

beforeEach(() => {
  store = new MemoryStore()
  reloads = []
  const find = createRouter(
    providerKeyRoutes({
      audit: noAudit,
      store,
      sealer,
      clock: new ManualClock(),
      bodyLimit: () => 100_000,
      bodyLimiter: openBodyLimiter(),
      providers: () => ['openai', 'org/vertex', 'with space'],
      reload: async () => reloads.push(await openProviderKeys(store, sealer)),
    }),
  )
  call = async (method, path, body) => {
    const init = { method, ...(body !== undefined && { body: JSON.stringify(body) }) }
    const target = `/admin/provider-keys/${path}`
    const request = new Request(`http://gateway.test${target}`, init)
    return (await find(target)).serve(request, adminContext())
  }
})

describe('PUT', () => {
  test('PUT seals the key and applies it before the response', async () => {
    expect(await call('PUT', 'openai', { key: canary })).toEqual({
      status: 204,
      headers: [],
      body: null,
    })
    expect(reloads).toEqual([new Map([['openai', canary]])])
    const rows = await store.readSealed('provider-key')
    expect(rows).toMatchObject([{ name: 'openai', updatedAt: 1_764_000_000 }])
    expect(JSON.stringify(rows)).not.toContain(canary)
  })

  test('PUT replaces an earlier key', async () => {
    await call('PUT', 'openai', { key: 'old' })
    await call('PUT', 'openai', { key: canary })
    expect(reloads.at(-1)).toEqual(new Map([['openai', canary]]))
  })

  test.each(['org/vertex', 'org%2Fvertex', 'with%20space'])(
    'PUT accepts every valid provider name: %s',
    async (path) => {
      await call('PUT', path, { key: canary })
      expect([...(reloads[0]?.keys() ?? [])]).toEqual([decodeURIComponent(path)])
    },
  )

  test.each(['other', 'constructor', 'OpenAI', 'openai/x'])(
    'PUT refuses a name without a provider: %s',
    async (path) => {
      await expect(call('PUT', path, { key: canary })).rejects.toMatchObject({
        code: 'LM-1001',
        detail: { param: 'name' },
      })
      expect(store.calls).toEqual([])
      expect(reloads).toEqual([])
    },
  )

  test.each([
    ['key', {}],
    ['key', { key: null }],
    ['key', { key: 5 }],
    ['key', { key: '' }],
    ['key', { key: '   ' }],
    ['key', { key: `${canary}\n` }],
    ['key', { key: ` ${canary}` }],
    ['key', { key: `${canary}\u0000` }],
    ['key', { key: `${canary}é` }],
    ['key', { key: `{\n"almost": "${canary}"` }],
    ['key', { key: `["${canary}"]\n` }],
    ['key', { key: canary.repeat(5000) }],
    ['secret', { key: canary, secret: canary }],
  ])(
    'PUT with an invalid body names the field %s and repeats nothing of it',
    async (param, body) => {
      const error = await call('PUT', 'openai', body).catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(GatewayError)
      expect(error).toMatchObject({ detail: { param } })
      expect((error as GatewayError).message).not.toContain('canary')
      expect(store.calls).toEqual([])
    },
  )

  test('PUT stores a JSON document unchanged, including its line ends', async () => {
    const document = JSON.stringify({ type: 'service_account', name: 'é' }, null, 2)
    await call('PUT', 'org/vertex', { key: document })
    expect(reloads[0]?.get('org/vertex')).toBe(document)
  })

  test('PUT fails when the key cannot be stored', async () => {
    store.trouble = 'refuse'
    await expect(call('PUT', 'openai', { key: canary })).rejects.not.toBeInstanceOf(GatewayError)
    expect(reloads).toEqual([])
  })
})

describe('DELETE', () => {
  test('DELETE removes the key and applies that before the response', async () => {
    await call('PUT', 'openai', { key: canary })
    expect((await call('DELETE', 'openai')).status).toBe(204)
    expect(reloads.at(-1)).toEqual(new Map())
  })

  test('DELETE succeeds for a provider without a stored key', async () => {
    expect((await call('DELETE', 'openai')).status).toBe(204)
  })

  test('DELETE removes a key whose provider is no longer configured', async () => {
    const sealed = await sealer.seal({ purpose: 'provider-key', name: 'gone' }, canary)
    await store.putSealed({ purpose: 'provider-key', name: 'gone', sealed, updatedAt: 1 })
    expect((await call('DELETE', 'gone')).status).toBe(204)
    await expect(call('DELETE', 'gone')).rejects.toMatchObject({ code: 'LM-1001' })
  })
})

describe('opening', () => {
  test('opening returns every key by the name of its provider, and no other sealed value', async () => {
    await call('PUT', 'openai', { key: 'a' })
    await call('PUT', 'org/vertex', { key: 'b' })
    await store.putSealed({ purpose: 'canary', name: 'c', sealed: 'x', updatedAt: 1 })
    expect(await openProviderKeys(store, sealer)).toEqual(
      new Map([
        ['openai', 'a'],
        ['org/vertex', 'b'],
      ]),
    )
  })

  test('opening rejects when one key was sealed for another provider', async () => {
    await call('PUT', 'openai', { key: canary })
    const [row] = await store.readSealed('provider-key')
    if (row) await store.putSealed({ ...row, name: 'org/vertex' })
    await expect(openProviderKeys(store, sealer)).rejects.toThrow(
      'the stored key of provider org/vertex cannot be decrypted',
    )
  })

  test('opening rejects when the database cannot be read', async () => {
    store.trouble = 'refuse'
    await expect(openProviderKeys(store, sealer)).rejects.toBeInstanceOf(Error)
  })
})
