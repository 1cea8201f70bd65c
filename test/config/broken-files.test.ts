import { expect, test } from 'vitest'
import { renderConfigSchema } from '../../scripts/config-schema.ts'
import { listProblems, load } from './support.ts'

interface BrokenFile {
  readonly title: string
  readonly text: string
  readonly problems: readonly string[]
}

const brokenFiles: readonly BrokenFile[] = [
  {
    title: 'a misspelt section',
    text: '\n[sever]\nport = 1',
    problems: ['sever (line 2): unknown setting; did you mean "server"?'],
  },
  {
    title: 'a misspelt setting',
    text: '[server]\nprot = 1',
    problems: ['server.prot (line 2): unknown setting; did you mean "port"?'],
  },
  {
    title: 'a misspelt setting of a dotted key',
    text: '\nserver.prot = 1',
    problems: ['server.prot (line 2): unknown setting; did you mean "port"?'],
  },
  {
    title: 'a misspelt setting of an inline table',
    text: 'server = {\n  host = "::1",\n  prot = 1\n}',
    problems: ['server.prot (line 3): unknown setting; did you mean "port"?'],
  },
  {
    title: 'a setting whose name lacks a word',
    text: '[[providers]]\nname = "a"\nkind = "openai"\napi_key = "canary"\nurl = "http://a.test"',
    problems: [
      'providers[0].api_key (line 4): unknown setting: name the environment variable that holds the key, not the key itself; did you mean "api_key_env"?',
      'providers[0].url (line 5): unknown setting; did you mean "base_url"?',
    ],
  },
  {
    title: 'a setting that belongs to another table',
    text: '[server]\ntotal_timeout_ms = 1\n[[providers]]\nname = "a"\nkind = "openai"\nfallbacks = []',
    problems: [
      'server.total_timeout_ms (line 2): unknown setting; did you mean "resilience.total_timeout_ms"?',
      'providers[0].fallbacks (line 6): unknown setting; did you mean "providers.models.fallbacks"?',
    ],
  },
  {
    title: 'a setting that resembles nothing',
    text: '[server]\ncolour = "red"\ntoString = 1',
    problems: [
      'server.colour (line 2): unknown setting',
      'server.toString (line 3): unknown setting',
    ],
  },
  {
    title: 'names that need quotes, kept to one line',
    text: '"a.b" = 1\n"c\\nd" = 2\n"" = 3',
    problems: [
      '"a.b" (line 1): unknown setting',
      '"c\\nd" (line 2): unknown setting',
      '"" (line 3): unknown setting',
    ],
  },
  {
    title: 'a top-level key after a table header',
    text: '[server]\nport = 1\nlog_format = "json"\n[[providers]]\nname = "a"\nkind = "openai"\nlog_format = "json"',
    problems: [
      'server.log_format (line 3): log_format is a top-level key: put it before the first [table]',
      'providers[0].log_format (line 7): log_format is a top-level key: put it before the first [table]',
    ],
  },
  {
    title: 'a section inside another one',
    text: '[server.auth]\nenabled = true\n[[server.providers]]',
    problems: [
      'server.auth (line 1): auth is a top-level table: write [auth]',
      'server.providers (line 3): providers is a top-level array of tables: write [[providers]]',
    ],
  },
  {
    title: 'models outside their provider',
    text: '[[models]]\nid = "a"',
    problems: ['models (line 1): unknown setting; did you mean "providers.models"?'],
  },
  {
    title: 'single brackets where double ones belong, and the other way round',
    text: '[providers]\n[[server]]',
    problems: [
      'providers (line 1): must be an array of tables: write [[providers]]',
      'server (line 2): must be a single table: write [server]',
    ],
  },
  {
    title: 'single brackets at the models of a provider',
    text: '[[providers]]\nname = "a"\nkind = "openai"\n[providers.models]\nid = "b"',
    problems: [
      'providers[0].models (line 4): must be an array of tables: write [[providers.models]]',
    ],
  },
  {
    title: 'values of the wrong type',
    text: 'log_format = 1\nserver = 2\nproviders = 3\n[auth]\nenabled = "yes"\ndb_path = 4',
    problems: [
      'log_format (line 1): must be "pretty" or "json"',
      'server (line 2): must be a table',
      'providers (line 3): must be an array',
      'auth.enabled (line 5): must be true or false',
      'auth.db_path (line 6): must be a string',
    ],
  },
  {
    title: 'a date in place of a table',
    text: 'server = 1979-05-27\nproviders = [2020-01-01T00:00:00Z]\nwebhooks = 07:32:00',
    problems: [
      'server (line 1): must be a table',
      'providers[0] (line 2): must be a table',
      'webhooks (line 3): must be a table',
    ],
  },
  {
    title: 'a choice that is none of the choices',
    text: 'log_format = "jsn"\ntokenizer.mode = "exact"',
    problems: [
      'log_format (line 1): must be "pretty" or "json"; did you mean "json"?',
      'tokenizer.mode (line 2): must be "heuristic" or "accurate"',
    ],
  },
  {
    title: 'required settings that are absent, at the line of their table',
    text: 'auth.enabled = true\n[[providers]]\n[[providers.models]]\n[webhooks]\n',
    problems: [
      'providers[0].name (line 2): is required',
      'providers[0].kind (line 2): is required',
      'providers[0].models[0].id (line 3): is required',
      'webhooks.url (line 4): is required',
    ],
  },
  {
    title: 'text settings that are empty',
    text: 'server.host = ""\nauth.db_path = ""\n',
    problems: [
      'server.host (line 1): must be text of one or more characters, none of them a control character',
      'auth.db_path (line 2): must be text of one or more characters, none of them a control character',
    ],
  },
  {
    title: 'entries that are no tables',
    text: 'providers = [\n  1,\n  { name = "a", kind = "openai", models = [\n    "b"\n  ] }\n]',
    problems: [
      'providers[0] (line 2): must be a table',
      'providers[1].models[0] (line 4): must be a table',
    ],
  },
  {
    title: 'an array over several lines, at the line of the entry',
    text: '[telemetry]\nmetadata_labels = [\n  "team",\n  "a-b",\n]',
    problems: [
      'telemetry.metadata_labels[1] (line 4): must be a legal label name: 1 to 64 letters, digits and "_", not a digit first',
    ],
  },
  {
    title: 'a byte order mark at the start',
    text: '\uFEFF[server]\nprot = 1',
    problems: ['server.prot (line 2): unknown setting; did you mean "port"?'],
  },
]

test.each(brokenFiles)('$title', async ({ text, problems }) => {
  expect(await listProblems(text)).toEqual(problems)
})

test('problems of the schema and of joined settings are sorted by line', async () => {
  const text = `
[server]
port = 0
[webhooks]
url = "nowhere"
[[providers]]
name = "a"
kind = "opnai"
strict = "no"
[[providers.models]]
id = "m"
fallbacks = ["n", 3]
[[providers]]
name = "a"
kind = "vllm"
base_url = 5
[[providers.models]]
id = "m"
capabilities = ["chta"]
`
  expect(await listProblems(text)).toEqual([
    'server.port (line 3): must not be 0: must be a whole number from 1 to 65535',
    'webhooks (line 4): webhooks need auth: set auth.enabled to true',
    'webhooks.url (line 5): must be an http or https URL',
    'providers[0].kind (line 8): unknown kind "opnai"; did you mean "openai"?',
    'providers[0].strict (line 9): must be true or false',
    'providers[0].models[0].fallbacks[1] (line 12): must be a string',
    'providers[0].models[0].fallbacks[0] (line 12): no model has the id "n"',
    'providers[1].name (line 14): provider name "a" is already taken by providers[0].name (line 7)',
    'providers[1].base_url (line 16): must be a string',
    'providers[1].models[0].id (line 18): model id "m" is already taken by providers[0].models[0].id (line 11)',
    'providers[1].models[0].capabilities[0] (line 19): must be "chat", "embed", "rerank", or "decisions"; did you mean "chat"?',
  ])
})

test('a name of any length is shortened in its report', async () => {
  const name = 'x'.repeat(10_000)
  const file = `${name} = 1\n[[providers]]\nname = "a"\nkind = "${name}"`
  expect(await listProblems(file)).toEqual([
    `"${'x'.repeat(100)}…" (line 1): unknown setting`,
    `providers[0].kind (line 4): unknown kind "${'x'.repeat(100)}…"`,
  ])
})

test('a problem has its setting, line, message and suggestion in separate fields', async () => {
  expect(await load('[server]\nprot = 1')).toEqual({
    ok: false,
    problems: [{ setting: 'server.prot', line: 2, message: 'unknown setting', suggestion: 'port' }],
  })
})

test.each([
  ['log_format = "json', 'line 1, column 14: not TOML: ', 'unfinished'],
  ['[server]\nport = = 1', 'line 2, column 8: not TOML: ', 'value'],
  ['a = 1\na = 2', 'line 2, column 1: not TOML: ', 'already defined'],
  ['__proto__ = 1', 'line 1, column 1: not TOML: ', 'unsafe'],
])('text that is no TOML is reported by line and column: %j', async (text, place, reason) => {
  const [problem = '', ...rest] = await listProblems(text)
  expect(problem).toContain(place)
  expect(problem).toContain(reason)
  expect(rest).toEqual([])
})

test.each([
  ['YAML', '# a comment\n---\nproviders: []', 'line 2, column 4'],
  ['YAML', '- name: canary', 'line 1, column 3'],
  ['YAML', '[server]\nport: 8080', 'line 2, column 5'],
  ['JSON', '{\n  "providers": []\n}', 'line 1, column 1'],
  ['JSON', '[\n  {}\n]', 'line 1, column 2'],
  ['JSON', '"providers": []', 'line 1, column 12'],
])('%s is recognized: %j', async (format, text, place) => {
  expect(await listProblems(text)).toEqual([
    `${place}: this looks like ${format}; the file is TOML: key = value`,
  ])
})

test.each([
  ['model_list:\n  - model_name: canary', 'line 1, column 11'],
  ['# a comment\nlitellm_settings:\n  drop_params: true\nmodel_list: []', 'line 2, column 17'],
])('a file of LiteLLM is pointed to its importer: %j', async (text, place) => {
  expect(await listProblems(text)).toEqual([
    `${place}: this looks like a config.yaml of LiteLLM: convert it with \`gateway import litellm FILE\``,
  ])
})

test.each(['[[providers.models]]', '[providers.models]'])(
  '%s before the first [[providers]] is reported with the header that belongs first',
  async (header) => {
    const text = `\n${header}\nid = "m"\n[[providers]]\nname = "a"\nkind = "openai"\n`
    expect(await listProblems(text)).toEqual([
      `line 2, column 1: ${header} comes before the first [[providers]] (line 4): put [[providers]] first`,
    ])
  },
)

test.each([
  ['[server\nport = 1', 'the brackets of "[server" do not match: write [server]'],
  ['[server', 'the brackets of "[server" do not match: write [server]'],
  ['[server]]', 'the brackets of "[server]]" do not match: write [server]'],
  ['[[providers]', 'the brackets of "[[providers]" do not match: write [[providers]]'],
  [
    '[[providers.models',
    'the brackets of "[[providers.models" do not match: write [[providers.models]]',
  ],
  ['[auth]\n[auth]', 'already defined table or value: in the line of "[auth]"'],
  ['cost_per_1m_input = = 1', 'invalid value: in the line of "cost_per_1m_input"'],
  ['server.port = 1 1', 'end-of-line: in the line of "server.port"'],
])('a line that is not TOML is named by its header or key: %j', async (text, message) => {
  const [problem = ''] = await listProblems(text)
  expect(problem).toMatch(/^line \d, column \d+: not TOML: /)
  expect(problem.slice(-message.length)).toBe(message)
})

test('every setting can be named so', async () => {
  const names = new Set<string>()
  JSON.parse(renderConfigSchema(), (key, value) => {
    if (key === 'properties') for (const name of Object.keys(value)) names.add(name)
    return value
  })
  expect(names.size).toBeGreaterThan(100)
  for (const name of names) {
    const [problem] = await listProblems(`${name} = = 1`)
    expect(problem).toContain(`invalid value: in the line of "${name}"`)
  }
})

const secrets = [
  'canary',
  'sk-canary',
  'sk_live_51canary',
  'Canary',
  'c4n4ry',
  'Y2FuYXJ5==',
  'a'.repeat(64),
]
const places = [
  (secret: string) => `api_key = "${secret}" oops`,
  (secret: string) => `api_key = ${secret}`,
  (secret: string) => `api_key = "${secret}`,
  (secret: string) => `x = """\n${secret}\n\\q"""`,
  (secret: string) => `x = """\n${secret} \\q"""`,
  (secret: string) => `[server]\n${secret}`,
  (secret: string) => `x = [\n"${secret}" "${secret}"]`,
  (secret: string) => `[server] ${secret}`,
  (secret: string) => `[server ${secret}]`,
  (secret: string) => `x = { "${secret}" }`,
]
test('the report of a text that is not TOML quotes no value', async () => {
  for (const secret of secrets) {
    for (const place of places) {
      const problems = await listProblems(place(secret))
      expect(problems).toHaveLength(1)
      expect(problems.join()).not.toContain('\n')
      expect(problems.join(), place(secret)).not.toContain(secret)
    }
  }
})

test.each(secrets.slice(1))(
  'a secret where a key or a header belongs is not quoted: %s',
  async (secret) => {
    for (const text of [
      `${secret} = = 1`,
      `[${secret}\nx = 1`,
      `[${secret}]]`,
      `x."${secret}" = = 1`,
    ]) {
      expect((await listProblems(text)).join(), text).not.toContain(secret.slice(0, 4))
    }
  },
)

test('a text over 256 KiB is refused without line numbers, which would take too long to find', async () => {
  const text = `[server]\nprot = 1\nx = [${'1,'.repeat(130 * 1024)}1]`
  expect(await listProblems(text)).toEqual([
    'server.prot: unknown setting; did you mean "port"?',
    'server.x: unknown setting',
  ])
})
