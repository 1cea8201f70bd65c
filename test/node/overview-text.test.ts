import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { renderStartLines, toLogFields } from '../../adapters/node/host/overview-text.ts'
import { plain } from '../../adapters/node/output/style.ts'
import { type Overview, version } from '../../src/index.ts'

const overview: Overview = {
  providers: [
    {
      name: 'p',
      kind: 'openai',
      baseUrl: 'https://p.test',
      credential: 'P_KEY is unset',
      missing: 'provider p has no credential',
      profiles: [],
    },
    {
      name: 'second',
      kind: 'vllm',
      baseUrl: 'http://second.test/v1',
      credential: 'not needed',
      missing: undefined,
      profiles: [],
    },
  ],
  models: 2,
  routes: 0,
  logFormat: 'pretty',
  auth: { enabled: true, database: '/data/gateway.db' },
  cache: { enabled: false },
  shared: { enabled: false },
  warnings: [],
}

const place = { address: 'http://127.0.0.1:1', file: 'a.toml', style: plain }

test('the overview shows address, file, one line per provider, auth and cache', () => {
  expect(renderStartLines(overview, place)).toEqual([
    `Model Gateway ${version} listens on http://127.0.0.1:1, configured by a.toml`,
    '  2 providers, 2 models',
    '  p       openai  https://p.test         ! P_KEY is unset',
    '  second  vllm    http://second.test/v1  not needed',
    '  auth is on, with the database /data/gateway.db',
    '  cache is off',
  ])
})

test('proxies for outgoing calls are shown: those of providers, then those of the environment', () => {
  const [first, second] = overview.providers
  if (!first || !second) throw new Error('the overview has two providers')
  const providers = [first, { ...second, proxy: 'http://***@proxy.test:3128' }]
  const proxies = { https_proxy: 'http://proxy.test', no_proxy: '.corp' }
  expect(renderStartLines({ ...overview, providers }, { ...place, proxies }).slice(2)).toEqual([
    '  p       openai  https://p.test         ! P_KEY is unset',
    '  second  vllm    http://second.test/v1  not needed        proxy http://***@proxy.test:3128',
    '  auth is on, with the database /data/gateway.db',
    '  cache is off',
    '  outgoing proxies: https_proxy=http://proxy.test no_proxy=.corp',
  ])
})

test('the demo has no file, and a gateway without providers shows auth alone', () => {
  const empty: Overview = { ...overview, providers: [], models: 0, auth: { enabled: false } }
  expect(renderStartLines(empty, { ...place, file: undefined })).toEqual([
    `Model Gateway ${version} listens on http://127.0.0.1:1`,
    '  0 providers, 0 models',
    '  auth is off: every client that reaches the gateway may use its models',
    '  cache is off',
  ])
})

test('routes and the cache are shown', () => {
  const more: Overview = {
    ...overview,
    providers: [],
    models: 1,
    routes: 3,
    cache: { enabled: true, models: 1, maxBytes: 1_610_612_736 },
  }
  expect(renderStartLines(more, place).slice(1)).toEqual([
    '  0 providers, 1 model, 3 routes',
    '  auth is on, with the database /data/gateway.db',
    '  cache is on for 1 model, with at most 1.5 GiB',
  ])
})

test('columns stay aligned in colors, and a missing credential is red', () => {
  const mark = (name: string) => (text: string) => `<${name}>${text}</${name}>`
  const style = { ...plain, red: mark('red'), green: mark('green') }
  const lines = renderStartLines(overview, { ...place, style })
  expect(lines.slice(2, 4)).toEqual([
    '  p       openai  https://p.test         <red>! P_KEY is unset</red>',
    '  second  vllm    http://second.test/v1  <green>not needed</green>',
  ])
})

test('the log line for people has short fields, and no warnings, which have lines of their own', () => {
  const shared = { enabled: true, server: 'redis.test:6379', prefix: 'a' } as const
  const more: Overview = {
    ...overview,
    cache: { enabled: true, models: 1, maxBytes: 1024 },
    shared,
    warnings: ['canary'],
  }
  expect(toLogFields(more)).toEqual({
    providers: 'p,second',
    models: 2,
    routes: 0,
    auth: 'on',
    database: '/data/gateway.db',
    cache: 'on',
    shared: 'redis.test:6379',
  })
  expect(toLogFields({ ...overview, auth: { enabled: false } })).toEqual({
    providers: 'p,second',
    models: 2,
    routes: 0,
    auth: 'off',
    cache: 'off',
  })
})

test('the log line for programs has everything', () => {
  const more: Overview = { ...overview, logFormat: 'json', warnings: ['a warning'] }
  expect(toLogFields(more)).toEqual({
    providers: [
      { name: 'p', kind: 'openai', base_url: 'https://p.test', credential: 'P_KEY is unset' },
      {
        name: 'second',
        kind: 'vllm',
        base_url: 'http://second.test/v1',
        credential: 'not needed',
      },
    ],
    models: 2,
    routes: 0,
    auth: { enabled: true, database: '/data/gateway.db' },
    cache: { enabled: false },
    warnings: ['a warning'],
  })
})

test('a relative path of the database is shown from the root, and a server as it is', () => {
  for (const [database, shown] of [
    ['gateway.db', resolve('gateway.db')],
    ['file:x/y.db', resolve('x/y.db')],
    ['libsql://db.test', 'libsql://db.test'],
  ] as const) {
    const auth = { enabled: true, database } as const
    expect(renderStartLines({ ...overview, auth }, place)).toContain(
      `  auth is on, with the database ${shown}`,
    )
    expect(toLogFields({ ...overview, auth })).toMatchObject({ database: shown })
    expect(toLogFields({ ...overview, auth, logFormat: 'json' })).toMatchObject({
      auth: { database: shown },
    })
  }
})

test('profiles that say more than the kind are shown with their models', () => {
  const [first, second] = overview.providers
  if (!first || !second) throw new Error('the overview has two providers')
  const profiles = [
    { origin: 'vllm (kind)', models: ['a'] },
    { origin: 'vllm (kind), qwen (upstream id)', models: ['b', 'c', 'd', 'e'] },
  ]
  const providers = [first, { ...second, profiles }]
  expect(renderStartLines({ ...overview, providers }, place)).toContain(
    '  profile of second: vllm (kind), qwen (upstream id), for b, c, d and 1 more',
  )
})
