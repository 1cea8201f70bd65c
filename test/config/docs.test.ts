import { readFileSync } from 'node:fs'
import { parse } from 'smol-toml'
import { describe, expect, test } from 'vitest'
import { check } from '../../adapters/node/commands/check.ts'
import { loadConfig, renderProblem } from '../../src/config/index.ts'
import type { Path } from '../../src/config/problem.ts'
import { listNames } from '../../src/config/schema-tree.ts'
import { kinds } from './support.ts'

const page = readFileSync('docs/configuration.md', 'utf8')
const settings = readFileSync('docs/settings.md', 'utf8')

const documentedKinds = [
  ...kinds,
  { name: 'anthropic', capabilities: ['chat'], defaultBaseUrl: 'https://anthropic.test' },
  { name: 'cohere', capabilities: ['chat', 'embed', 'rerank'], defaultBaseUrl: 'https://co.test' },
] as const

function load(text: string) {
  return loadConfig({ text, env: {}, kinds: documentedKinds })
}

/** Returns the fenced blocks of the page with this info string. */
function blocks(fence: string): readonly string[] {
  return [...page.matchAll(/^```(.+)\n([^]*?)^```$/gm)]
    .filter(([, info]) => info === fence)
    .map(([, , text = '']) => text)
}

test.each(blocks('toml'))(
  'an example file is valid, and warned about in nothing: %#',
  async (text) => {
    expect(await load(text)).toMatchObject({ ok: true, warnings: [] })
  },
)

test('the page has a first and a complete example', () => {
  expect(blocks('toml')).toHaveLength(2)
})

test('the broken example is refused with the lines on the page', async () => {
  const [text = ''] = blocks('toml broken')
  const result = await load(text)
  const lines = result.ok ? [] : result.problems.map(renderProblem)
  expect(`${lines.join('\n')}\n`).toBe(blocks('text')[0])
})

test('checking the first example prints the lines on the page', async () => {
  const [config = ''] = blocks('toml')
  const env = { OPENAI_API_KEY: 'x' }
  const lines = await check({ name: 'config.toml', config, env, strict: false })
  expect(`${lines.join('\n')}\n`).toBe(blocks('text check')[0])
})

interface Section {
  readonly heading: string
  readonly path: Path
  /** The smallest file that has every default of the section. */
  readonly file: string
  /** The optional settings that it must have. */
  readonly given?: readonly string[]
}

const provider = '[[providers]]\nname = "a"\nkind = "openai"\n'

const route = `${provider}models = [{ id = "a" }]
[[routes]]
id = "b"
strategy = "weighted"
targets = [{ model = "a" }]`

const switching = `${provider}models = [{ id = "a" }]
[[routes]]
id = "b"
strategy = "switch"
cases = [{ when = { stream = true }, target = "a" }]
default = "a"`

const sections: readonly Section[] = [
  { heading: 'Top level', path: [], file: '' },
  { heading: '`[server]`', path: ['server'], file: '' },
  { heading: '`[auth]`', path: ['auth'], file: '' },
  { heading: '`[telemetry]`', path: ['telemetry'], file: '' },
  { heading: '`[tokenizer]`', path: ['tokenizer'], file: '' },
  { heading: '`[resilience]`', path: ['resilience'], file: '' },
  { heading: '`[[providers]]`', path: ['providers', 0], file: provider },
  {
    heading: '`[[providers.models]]`',
    path: ['providers', 0, 'models', 0],
    file: `${provider}[[providers.models]]\nid = "a"`,
  },
  { heading: '`[[routes]]`', path: ['routes', 0], file: route, given: ['targets'] },
  { heading: '`[[routes.targets]]`', path: ['routes', 0, 'targets', 0], file: route },
  { heading: '`[[routes.cases]]`', path: ['routes', 0, 'cases', 0], file: switching },
  {
    heading: '`[routes.cases.when]`',
    path: ['routes', 0, 'cases', 0, 'when'],
    file: switching,
    given: ['stream'],
  },
  { heading: '`[image_fetch]`', path: ['image_fetch'], file: '' },
  {
    heading: '`[shared]`',
    path: ['shared'],
    file: 'shared.url = "redis://a.test"',
    given: ['url'],
  },
  {
    heading: '`[webhooks]`',
    path: ['webhooks'],
    file: 'auth.enabled = true\nwebhooks.url = "https://a.test"',
  },
]

/** Returns the names and defaults in the table below a heading. */
function documented(heading: string): readonly (readonly [name: string, byDefault: string])[] {
  const [, text = ''] = settings.split(`\n## ${heading}\n`)
  const [body = ''] = text.split(/^#/m)
  const rows = [...body.matchAll(/^\| `(\w+)` \| [^|]+ \| ([^|]+) \|/gm)]
  return rows.map(([, name = '', byDefault = '']) => [name, byDefault])
}

/** Parses a default as the page writes it. */
function valueOf(byDefault: string): unknown {
  if (byDefault === 'none') return undefined
  return parse(`value = ${byDefault.replaceAll('`', '')}`).value
}

describe.each(sections)('the table of $heading', ({ heading, path, file, given = [] }) => {
  test('the table lists every setting, in the order of the schema', () => {
    const names = listNames(path).filter((name) => path.length > 0 || name === 'log_format')
    expect(documented(heading).map(([name]) => name)).toEqual(names)
  })

  test('the table shows the defaults of the schema', async () => {
    const result = await load(file)
    if (!result.ok) throw new Error('the file of this section must be valid')
    const table = path.reduce<unknown>(
      (value, part) => Reflect.get(Object(value), part),
      result.config,
    )
    const defaults = documented(heading).filter(
      ([name, byDefault]) => byDefault !== 'required' && !given.includes(name),
    )
    const inForce = defaults.map(([name]) => [name, Reflect.get(Object(table), name)])
    expect(inForce).toEqual(defaults.map(([name, byDefault]) => [name, valueOf(byDefault)]))
  })
})
