import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import fc from 'fast-check'
import { parse, stringify, type TomlTable } from 'smol-toml'
import { expect, test } from 'vitest'
import { renderConfigSchema, renderPage } from '../../scripts/config-schema.ts'
import { loadConfig } from '../../src/config/index.ts'
import { configSchema } from '../../src/config/schema.ts'
import { kinds } from '../../src/providers/index.ts'

/*
 * The schema of the configuration file that editors use.
 */

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const text = read('gateway.schema.json')
const accepts = new Ajv({ allErrors: true, strictTypes: false }).compile(JSON.parse(text))

async function loads(file: string): Promise<boolean> {
  return (await loadConfig({ text: file, env: {}, kinds })).ok
}

test('the file and the tables of the page are those which `npm run schema` writes', () => {
  expect(text).toBe(renderConfigSchema())
  expect(read('docs/settings.md')).toBe(renderPage())
})

const documented = [...read('docs/configuration.md').matchAll(/^```toml\n([^]*?)^```$/gm)].map(
  ([, file = '']) => file,
)

test.each([read('demo.toml'), ...documented])('a valid file is accepted: %#', (file) => {
  accepts(parse(file))
  expect(accepts.errors).toBeNull()
})

const provider = { name: 'p', kind: 'openai', models: [{ id: 'm' }] }

test.each<[why: string, file: TomlTable]>([
  ['an unknown setting', { server: { prot: 1 } }],
  ['a number outside its range', { server: { port: 65_536 } }],
  ['a fraction', { server: { port: 1.5 } }],
  ['a wrong type', { auth: { enabled: 'yes' } }],
  ['an unknown choice', { log_format: 'xml' }],
  ['a list with duplicates', { server: { cors_origins: ['*', '*'] } }],
  ['an empty list', { providers: [{ ...provider, api_key_envs: [] }] }],
  ['an unknown kind', { providers: [{ ...provider, kind: 'opnai' }] }],
  ['a kind without its address', { providers: [{ ...provider, kind: 'azure' }] }],
  ["another kind's setting", { providers: [{ ...provider, latency_ms: 1 }] }],
  ['a health path without an address', { providers: [{ ...provider, health_path: '/' }] }],
  ['a model without an id', { providers: [{ ...provider, models: [{}] }] }],
  ['a route without targets', { providers: [provider], routes: [{ id: 'r' }] }],
])('the schema and the gateway refuse %s', async (_, file) => {
  expect(accepts(file)).toBe(false)
  expect(await loads(stringify(file))).toBe(false)
})

interface Bounds {
  readonly minimum?: number
  readonly maximum?: number
}

const { properties } = JSON.parse(text) as {
  properties: Record<string, { properties?: Record<string, Bounds> }>
}

/** The settings without a default, by section. */
const requiredIn: Readonly<Record<string, object>> = {
  shared: { url: 'redis://a.test' },
  webhooks: { url: 'https://a.test' },
}

const bounded = Object.entries(properties).flatMap(([section, { properties: settings = {} }]) =>
  Object.entries(settings).flatMap(([name, { minimum, maximum }]) =>
    minimum === undefined || maximum === undefined ? [] : [{ section, name, minimum, maximum }],
  ),
)

test('the schema and the gateway agree on the range of every number', async () => {
  expect(bounded.length).toBeGreaterThan(20)
  for (const { section, name, minimum, maximum } of bounded) {
    const required = requiredIn[section]
    for (const value of [minimum - 1, minimum, maximum, maximum + 1]) {
      const auth = section === 'auth' ? {} : { auth: { enabled: true } }
      const file = { ...auth, [section]: { ...required, [name]: value } }
      expect(await loads(stringify(file)), `${section}.${name} = ${value}`).toBe(accepts(file))
    }
  }
})

const odd = [0, -1, 1, 1.5, 2 ** 31, 1e15, true, '', ' ', 'auto', 'chat', '$A', 'é', '/a', 'EU-1']
const values = fc.oneof(
  fc.constantFrom(...odd, 'https://a.test', 'us-east-1', 'm', 'weighted', 'azure', 'demo'),
  fc.array(fc.constantFrom(...odd, 'A', 'text', 'image', 'https', '*', '[::A]'), { maxLength: 2 }),
)

function tableOf(names: readonly string[]) {
  return fc.dictionary(fc.constantFrom(...names, 'prot'), values, { maxKeys: 2 })
}

const { providers, routes, ...tables } = configSchema.shape
const modelNames = Object.keys(providers.unwrap().element.shape.models.unwrap().element.shape)
const sections = Object.entries({
  server: tables.server.unwrap().shape,
  auth: tables.auth.unwrap().shape,
  telemetry: tables.telemetry.unwrap().shape,
  resilience: tables.resilience.unwrap().shape,
  cache: tables.cache.unwrap().shape,
  image_fetch: tables.image_fetch.unwrap().shape,
}).map(([name, shape]) => tableOf(Object.keys(shape)).map((table) => ({ [name]: table })))

const files = fc.oneof(
  ...sections,
  tableOf(Object.keys(providers.unwrap().element.shape)).map((changed) => ({
    providers: [{ ...provider, ...changed }],
  })),
  tableOf(modelNames).map((changed) => ({
    providers: [{ ...provider, models: [{ id: 'm', ...changed }] }],
  })),
  tableOf(Object.keys(routes.unwrap().element.shape)).map((changed) => ({
    providers: [provider],
    routes: [{ id: 'r', strategy: 'weighted', targets: [{ model: 'm' }], ...changed }],
  })),
)

test('the gateway refuses every file that the schema refuses', async () => {
  const seen = { accepted: 0, refused: 0 }
  await fc.assert(
    fc.asyncProperty(files, async (file) => {
      const table = stringify(file)
      if (accepts(parse(table))) {
        seen.accepted++
        return
      }
      seen.refused++
      expect(await loads(table)).toBe(false)
    }),
    { numRuns: 1000 },
  )
  expect(seen.accepted).toBeGreaterThan(100)
  expect(seen.refused).toBeGreaterThan(100)
})
