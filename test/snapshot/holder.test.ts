import { describe, expect, test } from 'vitest'
import { type Config, loadConfig, renderProblem } from '../../src/config/index.ts'
import type { Environment, ReadFile } from '../../src/core/ports.ts'
import { kinds } from '../../src/providers/index.ts'
import { SnapshotHolder } from '../../src/snapshot/index.ts'
import { authorizedUser, token } from '../providers/vertex/support.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { ScriptedUpstream } from '../support/scripted-upstream.ts'

async function configOf(text: string): Promise<Config> {
  const result = await loadConfig({ text, env: {}, kinds })
  if (!result.ok) throw new Error(result.problems.map(renderProblem).join('\n'))
  return result.config
}

interface Start {
  readonly env?: Environment
  readonly storedKeys?: Readonly<Record<string, string>>
  readonly readFile?: ReadFile
}

/** A holder of this configuration, with time and the upstream in the test's hands. */
async function holding(text: string, { env = {}, storedKeys = {}, readFile }: Start = {}) {
  const clock = new ManualClock()
  const upstream = new ScriptedUpstream()
  const sources = (config: Config, keys: Readonly<Record<string, string>>) => ({
    config,
    storedKeys: new Map(Object.entries(keys)),
  })
  const ports = { env, clock, upstream: upstream.port, readFile }
  const holder = new SnapshotHolder(sources(await configOf(text), storedKeys), ports)
  const reload = async (next: string, keys = storedKeys) =>
    holder.prepare(sources(await configOf(next), keys))()
  return { holder, clock, upstream, sources, reload }
}

const request = { url: 'https://upstream.test', headers: {}, body: new Uint8Array(0) }

/** The headers that carry the credential of the provider at that place. */
async function headers(holder: SnapshotHolder, place = 0): Promise<object | undefined> {
  return holder.snapshot.providers[place]?.authorize(request)
}

const provider = (name: string, lines = '') =>
  `[[providers]]\nname = "${name}"\nkind = "openai"\n${lines}\n`
const model = (id: string, lines = '') => `[[providers.models]]\nid = "${id}"\n${lines}\n`

describe('the swap', () => {
  test('a successor serves when it is put in place, and not before', async () => {
    const { holder, sources } = await holding(provider('p') + model('old'))
    const [snapshot, config] = [holder.snapshot, await configOf(provider('p') + model('new'))]
    const swap = holder.prepare(sources(config, {}))
    expect(holder.snapshot).toBe(snapshot)
    swap()
    expect(holder.config).toBe(config)
    expect(holder.snapshot.models().map(({ id }) => id)).toEqual(['new'])
    expect(snapshot.models().map(({ id }) => id)).toEqual(['old'])
  })

  test('prices, policies and timeouts are those of the new configuration', async () => {
    const { holder, reload } = await holding(provider('p') + model('m', 'cost_per_1m_input = 1'))
    await reload(
      '[server]\nbody_limit = 7\nfirst_token_timeout_ms = 8\n' +
        '[resilience]\nretry_max_attempts = 9\ntotal_timeout_ms = 10\n' +
        provider('p') +
        model('m', 'cost_per_1m_input = 2'),
    )
    expect(holder.snapshot).toMatchObject({ bodyLimit: 7, retry: { maxAttempts: 9 } })
    expect(holder.snapshot.model('m')).toMatchObject({
      prices: { input: 2_000_000_000n },
      provider: { firstTokenTimeout: 8, totalTimeout: 10 },
    })
  })
})

describe('the credential in force', () => {
  const named = provider('p', 'api_key_env = "P_KEY"')

  test('is the variable, even beside a stored key', async () => {
    const { holder } = await holding(named, { env: { P_KEY: 'a' }, storedKeys: { p: 'b' } })
    expect(await headers(holder)).toEqual({ authorization: 'Bearer a' })
  })

  test.each([
    ['unset', named, {}],
    ['empty', named, { P_KEY: '' }],
    ['not named', provider('p'), {}],
    ['not named, at an own address', provider('p', 'base_url = "http://p.test"'), {}],
  ])('is the stored key where the variable is %s', async (_, text, env) => {
    const { holder } = await holding(text, { env, storedKeys: { p: 'b' } })
    expect(await headers(holder)).toEqual({ authorization: 'Bearer b' })
  })

  test('is the stored key before what lies about for the tools of the vendor', async () => {
    const { holder } = await holding('[[providers]]\nname = "p"\nkind = "bedrock"\n', {
      env: { AWS_BEARER_TOKEN_BEDROCK: 'of a tool' },
      storedKeys: { p: 'stored' },
    })
    expect(await headers(holder)).toEqual({ authorization: 'Bearer stored' })
  })

  test.each([{}, { other: 'b' }, { p: '' }])(
    'is missing where there is neither: %j',
    async (storedKeys) => {
      const { holder } = await holding(named, { storedKeys })
      expect(holder.snapshot.providers[0]?.credential.kind).toBe('missing')
    },
  )

  test('follows a key that is stored, replaced and forgotten', async () => {
    const { holder, reload } = await holding(named)
    await reload(named, { p: 'a' })
    expect(await headers(holder)).toEqual({ authorization: 'Bearer a' })
    await reload(named, { p: 'b' })
    expect(await headers(holder)).toEqual({ authorization: 'Bearer b' })
    await reload(named, {})
    expect(holder.snapshot.providers[0]?.credential.kind).toBe('missing')
  })
})

describe('what is carried over', () => {
  const vertex = (lines = '') =>
    '[[providers]]\nname = "v"\nkind = "vertex_ai"\nbase_url = "europe-west1"\n' +
    `api_key_env = "V"\n${lines}\n`
  const account = JSON.stringify(authorizedUser)

  test('the token of a provider that is still the same, whatever else has changed', async () => {
    const start = vertex() + model('m')
    const { holder, reload, upstream } = await holding(start, { env: { V: account } })
    upstream.next(token('first'))
    expect(await headers(holder)).toMatchObject({ authorization: 'Bearer first' })
    await reload(
      `[resilience]\ntotal_timeout_ms = 5\n${provider('new') + vertex() + model('m') + model('n')}`,
    )
    expect(await headers(holder, 1)).toMatchObject({ authorization: 'Bearer first' })
    expect(upstream.requests).toHaveLength(1)
    expect(holder.snapshot.providers[1]?.totalTimeout).toBe(5)
  })

  test('not the token of a provider with other settings', async () => {
    const { holder, reload, upstream } = await holding(vertex(), { env: { V: account } })
    upstream.next(token('first'), token('second'))
    await headers(holder)
    await reload(vertex('strict = true'))
    expect(await headers(holder)).toMatchObject({ authorization: 'Bearer second' })
  })

  test('not the token that another credential has got', async () => {
    const unset = vertex().replace('"V"', '"UNSET"')
    const { holder, reload, upstream } = await holding(unset, { storedKeys: { v: account } })
    upstream.next(token('first'), token('second'))
    await headers(holder)
    await reload(unset, { v: JSON.stringify({ ...authorizedUser, refresh_token: 'other' }) })
    expect(await headers(holder)).toMatchObject({ authorization: 'Bearer second' })
  })

  test('not what was read from a file: its content may be another one', async () => {
    let content = account
    const { holder, reload, upstream } = await holding(vertex(), {
      env: { V: '/run/secrets/account.json' },
      readFile: async () => content,
    })
    upstream.next(token('first'), token('second'))
    await headers(holder)
    content = JSON.stringify({ ...authorizedUser, quota_project_id: 'new-project' })
    await reload(vertex())
    expect(await headers(holder)).toEqual({
      authorization: 'Bearer second',
      'x-goog-user-project': 'new-project',
    })
  })
})

describe('since when a model is configured', () => {
  const boot = 1_764_000_000

  test('an entry that is the same keeps its time; a new or changed one has that of the reload', async () => {
    const { holder, reload, clock } = await holding(
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
    const created = holder.snapshot.models().map((entry) => [entry.id, entry.created - boot])
    expect(Object.fromEntries(created)).toEqual({ new: 60, same: 0, dearer: 60, moved: 60 })
  })

  test('reload after reload', async () => {
    const text = provider('p') + model('m')
    const { holder, reload, clock } = await holding(text)
    for (let round = 0; round < 3; round++) {
      await clock.advance(60_000)
      await reload(`[server]\nbody_limit = ${round + 1}\n${text}`)
    }
    expect(holder.snapshot.model('m').created).toBe(boot)
  })

  test('a new key is no change of the entry', async () => {
    const text = provider('p') + model('m')
    const { holder, reload, clock } = await holding(text, { storedKeys: { p: 'a' } })
    await clock.advance(60_000)
    await reload(text, { p: 'b' })
    expect(holder.snapshot.model('m').created).toBe(boot)
  })

  test('other settings of its provider are one', async () => {
    const { holder, reload, clock } = await holding(provider('p') + model('m'))
    await clock.advance(60_000)
    await reload(provider('p', 'base_url = "http://p.test"') + model('m'))
    expect(holder.snapshot.model('m').created).toBe(boot + 60)
  })
})
