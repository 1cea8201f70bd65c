import { describe, expect, test } from 'vitest'
import { type Config, loadConfig, renderProblem } from '../../src/config/index.ts'
import type { Environment, ReadFile } from '../../src/core/ports.ts'
import { kinds } from '../../src/providers/index.ts'
import { buildSnapshot, type PreviousSnapshot, type Snapshot } from '../../src/snapshot/index.ts'
import { authorizedUser, token } from '../providers/vertex/support.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { ScriptedUpstream } from '../support/scripted-upstream.ts'

async function loadValid(text: string): Promise<Config> {
  const result = await loadConfig({ text, env: {}, kinds })
  if (!result.ok) throw new Error(result.problems.map(renderProblem).join('\n'))
  return result.config
}

interface Start {
  readonly env?: Environment
  readonly storedKeys?: Readonly<Record<string, string>>
  readonly readFile?: ReadFile
}

/** The snapshot of a configuration, and `reload` to replace it, on a manual clock. */
async function running(text: string, { env = {}, storedKeys = {}, readFile }: Start = {}) {
  const clock = new ManualClock()
  const upstream = new ScriptedUpstream()
  const ports = { env, clock, upstream: upstream.port, readFile }
  const build = async (next: string, keys: object, previous?: PreviousSnapshot) => {
    const config = await loadValid(next)
    const sources = { ...ports, storedKeys: new Map(Object.entries(keys)), previous }
    return { config, snapshot: buildSnapshot(config, sources) }
  }
  let current = await build(text, storedKeys)
  const reload = async (next: string, keys = storedKeys) => {
    current = await build(next, keys, current)
  }
  return { snapshot: () => current.snapshot, clock, upstream, reload }
}

const request = { url: 'https://upstream.test', headers: {}, body: new Uint8Array(0) }

/** The headers that carry the credential of the provider at this index. */
async function headers(snapshot: () => Snapshot, place = 0): Promise<object | undefined> {
  return snapshot().providers[place]?.usable[0]?.authorize(request)
}

const provider = (name: string, lines = '') =>
  `[[providers]]\nname = "${name}"\nkind = "openai"\n${lines}\n`
const model = (id: string, lines = '') => `[[providers.models]]\nid = "${id}"\n${lines}\n`

describe('a reload', () => {
  test('prices, policies and timeouts come from the new configuration', async () => {
    const { snapshot, reload } = await running(provider('p') + model('m', 'cost_per_1m_input = 1'))
    await reload(
      '[server]\nbody_limit = 7\nfirst_token_timeout_ms = 8\n' +
        '[resilience]\nretry_max_attempts = 9\ntotal_timeout_ms = 10\n' +
        provider('p') +
        model('m', 'cost_per_1m_input = 2'),
    )
    expect(snapshot()).toMatchObject({ bodyLimit: 7, retry: { maxAttempts: 9 } })
    expect(snapshot().route('m')).toMatchObject({
      chain: [
        {
          prices: { input: 2_000_000_000n },
          provider: { firstTokenTimeout: 8, totalTimeout: 10 },
        },
      ],
    })
  })
})

describe('the credential of a provider', () => {
  const named = provider('p', 'api_key_env = "P_KEY"')

  test('the variable overrides the stored key', async () => {
    const { snapshot } = await running(named, { env: { P_KEY: 'a' }, storedKeys: { p: 'b' } })
    expect(await headers(snapshot)).toEqual({ authorization: 'Bearer a' })
  })

  test.each([
    ['unset', named, {}],
    ['empty', named, { P_KEY: '' }],
    ['not named', provider('p'), {}],
    ['not named and the provider has a base_url', provider('p', 'base_url = "http://p.test"'), {}],
  ])('the stored key is used when the variable is %s', async (_, text, env) => {
    const { snapshot } = await running(text, { env, storedKeys: { p: 'b' } })
    expect(await headers(snapshot)).toEqual({ authorization: 'Bearer b' })
  })

  test('the stored key overrides the variable of the vendor’s own tools', async () => {
    const { snapshot } = await running('[[providers]]\nname = "p"\nkind = "bedrock"\n', {
      env: { AWS_BEARER_TOKEN_BEDROCK: 'of a tool' },
      storedKeys: { p: 'stored' },
    })
    expect(await headers(snapshot)).toEqual({ authorization: 'Bearer stored' })
  })

  test.each([{}, { other: 'b' }, { p: '' }])(
    'a credential is missing without a variable and a stored key: %j',
    async (storedKeys) => {
      const { snapshot } = await running(named, { storedKeys })
      expect(snapshot().providers[0]?.credentials[0]?.kind).toBe('missing')
    },
  )

  test('the credential follows a key that is stored, replaced and deleted', async () => {
    const { snapshot, reload } = await running(named)
    await reload(named, { p: 'a' })
    expect(await headers(snapshot)).toEqual({ authorization: 'Bearer a' })
    await reload(named, { p: 'b' })
    expect(await headers(snapshot)).toEqual({ authorization: 'Bearer b' })
    await reload(named, {})
    expect(snapshot().providers[0]?.credentials[0]?.kind).toBe('missing')
  })
})

describe('an access token', () => {
  const vertex = (lines = '') =>
    '[[providers]]\nname = "v"\nkind = "vertex_ai"\nbase_url = "europe-west1"\n' +
    `api_key_env = "V"\n${lines}\n`
  const account = JSON.stringify(authorizedUser)

  test('a token stays in use while its provider is unchanged', async () => {
    const start = vertex() + model('m')
    const { snapshot, reload, upstream } = await running(start, { env: { V: account } })
    upstream.next(token('first'))
    expect(await headers(snapshot)).toMatchObject({ authorization: 'Bearer first' })
    await reload(
      `[resilience]\ntotal_timeout_ms = 5\n${provider('new') + vertex() + model('m') + model('n')}`,
    )
    expect(await headers(snapshot, 1)).toMatchObject({ authorization: 'Bearer first' })
    expect(upstream.requests).toHaveLength(1)
    expect(snapshot().providers[1]?.totalTimeout).toBe(5)
  })

  test('a token is fetched again when a setting of its provider changes', async () => {
    const { snapshot, reload, upstream } = await running(vertex(), { env: { V: account } })
    upstream.next(token('first'), token('second'))
    await headers(snapshot)
    await reload(vertex('strict = true'))
    expect(await headers(snapshot)).toMatchObject({ authorization: 'Bearer second' })
  })

  test('a token is fetched again when the credential changes', async () => {
    const unset = vertex().replace('"V"', '"UNSET"')
    const { snapshot, reload, upstream } = await running(unset, { storedKeys: { v: account } })
    upstream.next(token('first'), token('second'))
    await headers(snapshot)
    await reload(unset, { v: JSON.stringify({ ...authorizedUser, refresh_token: 'other' }) })
    expect(await headers(snapshot)).toMatchObject({ authorization: 'Bearer second' })
  })

  test('a token is fetched again when the credential comes from a file, which may have changed', async () => {
    let content = account
    const { snapshot, reload, upstream } = await running(vertex(), {
      env: { V: '/run/secrets/account.json' },
      readFile: async () => content,
    })
    upstream.next(token('first'), token('second'))
    await headers(snapshot)
    content = JSON.stringify({ ...authorizedUser, quota_project_id: 'new-project' })
    await reload(vertex())
    expect(await headers(snapshot)).toEqual({
      authorization: 'Bearer second',
      'x-goog-user-project': 'new-project',
    })
  })
})

describe('the creation time of a model', () => {
  const boot = 1_764_000_000

  test('an unchanged entry keeps its time, and a new or changed one has the time of the reload', async () => {
    const { snapshot, reload, clock } = await running(
      provider('p') + model('same') + model('dearer') + provider('q') + model('moved'),
    )
    await clock.advance(60_000)
    await reload(
      provider('p') +
        model('new') +
        model('same') +
        model('dearer', 'cost_per_1m_input = 1') +
        model('moved') +
        provider('q'),
    )
    const created = snapshot()
      .models()
      .map((entry) => [entry.id, entry.created - boot])
    expect(Object.fromEntries(created)).toEqual({ new: 60, same: 0, dearer: 60, moved: 60 })
  })

  test('the time survives many reloads', async () => {
    const text = provider('p') + model('m')
    const { snapshot, reload, clock } = await running(text)
    for (let round = 0; round < 3; round++) {
      await clock.advance(60_000)
      await reload(`[server]\nbody_limit = ${round + 1}\n${text}`)
    }
    expect(snapshot().route('m').created).toBe(boot)
  })

  test('the time stays when only the key of the provider changes', async () => {
    const text = provider('p') + model('m')
    const { snapshot, reload, clock } = await running(text, { storedKeys: { p: 'a' } })
    await clock.advance(60_000)
    await reload(text, { p: 'b' })
    expect(snapshot().route('m').created).toBe(boot)
  })

  test('the time changes when a setting of the provider changes', async () => {
    const { snapshot, reload, clock } = await running(provider('p') + model('m'))
    await clock.advance(60_000)
    await reload(provider('p', 'base_url = "http://p.test"') + model('m'))
    expect(snapshot().route('m').created).toBe(boot + 60)
  })
})
