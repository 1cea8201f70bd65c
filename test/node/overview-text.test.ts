import { expect, test } from 'vitest'
import { renderStartLines } from '../../adapters/node/overview-text.ts'
import { type Overview, version } from '../../src/index.ts'

const overview: Overview = {
  providers: [
    {
      name: 'p',
      kind: 'openai',
      baseUrl: 'https://p.test',
      credential: 'P_KEY is unset',
      missing: 'provider p has no credential',
    },
    {
      name: 'second',
      kind: 'vllm',
      baseUrl: 'http://second.test/v1',
      credential: 'not needed',
      missing: undefined,
    },
  ],
  models: 2,
  logFormat: 'pretty',
  auth: { enabled: true, database: 'gateway.db' },
  warnings: [],
}

test('the overview shows address, file, one line per provider, and auth', () => {
  expect(renderStartLines(overview, { address: 'http://127.0.0.1:1', file: 'a.toml' })).toEqual([
    `Model Gateway ${version} listens on http://127.0.0.1:1, configured by a.toml`,
    '  p       openai  https://p.test         ! P_KEY is unset',
    '  second  vllm    http://second.test/v1  not needed',
    '  auth is on, with the database gateway.db',
  ])
})

test('proxies for outgoing calls are shown: those of providers, then those of the environment', () => {
  const [first, second] = overview.providers
  if (!first || !second) throw new Error('the overview has two providers')
  const providers = [first, { ...second, proxy: 'http://***@proxy.test:3128' }]
  const proxies = { https_proxy: 'http://proxy.test', no_proxy: '.corp' }
  const place = { address: 'http://127.0.0.1:1', file: 'a.toml', proxies }
  expect(renderStartLines({ ...overview, providers }, place).slice(1)).toEqual([
    '  p       openai  https://p.test         ! P_KEY is unset',
    '  second  vllm    http://second.test/v1  not needed        proxy http://***@proxy.test:3128',
    '  auth is on, with the database gateway.db',
    '  outgoing proxies: https_proxy=http://proxy.test no_proxy=.corp',
  ])
})

test('the demo has no file, and a gateway without providers shows auth alone', () => {
  const empty: Overview = { ...overview, providers: [], auth: { enabled: false } }
  expect(renderStartLines(empty, { address: 'http://127.0.0.1:1', file: undefined })).toEqual([
    `Model Gateway ${version} listens on http://127.0.0.1:1`,
    '  auth is off',
  ])
})
