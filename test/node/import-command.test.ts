import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { checkConfig } from '../../src/index.ts'
import { runCommand, setVariables } from './support/cli.ts'

const yaml = `
model_list:
  - model_name: smart
    litellm_params:
      model: anthropic/claude-sonnet-4-5
      api_key: os.environ/ANTHROPIC_API_KEY
      rpm: 10
    model_info:
      supports_vision: true
      input_cost_per_token: 0.000003
      output_cost_per_token: 1.5e-05
      max_output_tokens: 64000
  - model_name: fast
    litellm_params:
      model: azure/my-deployment
      api_base: https://east.openai.azure.com
      api_version: "2024-10-21"
      api_key: os.environ/AZURE_KEY
  - model_name: fast
    litellm_params:
      model: gpt-4o-mini
      api_key: sk-in-the-file
  - model_name: vectors
    litellm_params: { model: hosted_vllm/BAAI/bge-m3, api_base: http://127.0.0.1:8000/v1 }
    model_info: { mode: embedding }
  - model_name: odd
    litellm_params: { model: sagemaker/x }
router_settings:
  num_retries: 2
  fallbacks: [{ smart: [fast, odd] }]
  routing_strategy: usage-based-routing
general_settings:
  master_key: sk-1234
`

function written(text: string) {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-import-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'config.yaml')
  writeFileSync(path, text)
  return { folder, path }
}

test('import litellm writes a valid configuration, and lists what it leaves out', async () => {
  const { path } = written(yaml)
  const { code, stdout, stderr } = await runCommand('import', 'litellm', path)
  expect(code).toBe(0)
  expect(stdout).toBe(`# Converted from a configuration of LiteLLM.

[auth]
enabled = true

[resilience]
retry_max_attempts = 3

[[providers]]
name = "anthropic"
kind = "anthropic"
api_key_env = "ANTHROPIC_API_KEY"

[[providers.models]]
id = "smart"
upstream_id = "claude-sonnet-4-5"
modalities = ["text","image"]
max_output_tokens = 64000
cost_per_1m_input = 3
cost_per_1m_output = 15
fallbacks = ["fast-1","fast-2"]

[[providers]]
name = "azure"
kind = "azure"
api_key_env = "AZURE_KEY"
base_url = "https://east.openai.azure.com"
api_version = "2024-10-21"

[[providers.models]]
id = "fast-1"
upstream_id = "my-deployment"

[[providers]]
name = "openai"
kind = "openai"

[[providers.models]]
id = "fast-2"
upstream_id = "gpt-4o-mini"

[[providers]]
name = "vllm"
kind = "vllm"
base_url = "http://127.0.0.1:8000/v1"

[[providers.models]]
id = "vectors"
upstream_id = "BAAI/bge-m3"
capabilities = ["embed"]

[[routes]]
id = "fast"
strategy = "weighted"
targets = [{ model = "fast-1" }, { model = "fast-2" }]
`)
  expect(stderr.split('\n')).toEqual([
    'not converted:',
    'model_list[2] (fast).litellm_params.api_key: put this key into a variable, and name it in api_key_env',
    'model_list[4] (odd): no kind for sagemaker/x',
    'model_list[0] (smart).litellm_params.rpm: no limit of a deployment; a 429 of the vendor moves on to the next one',
    'router_settings.routing_strategy: no route has usage-based-routing; "weighted" is written',
    'fallbacks of smart: no model odd',
    'next:',
    'auth is on, as in the proxy: set GATEWAY_MASTER_KEY (64 hex digits, as `openssl rand -hex 32` prints them), and create keys with `gateway keys create`',
    '3 models have no prices: `gateway prices --only-missing --write` fills them in',
    '',
  ])
  const verdict = await checkConfig(stdout, {})
  expect(verdict.ok ? [] : verdict.problems).toEqual([])
})

test.each([
  ['simple-shuffle', 'weighted'],
  ['latency-based-routing', 'fastest'],
  ['cost-based-routing', 'cheapest'],
  ['least-busy', 'least_busy'],
])('routing_strategy %s becomes the strategy %s, and weights are kept', async (from, to) => {
  const target = (name: string, weight: string) =>
    `{ model_name: fast, litellm_params: { model: openai/${name}${weight} } }`
  const text = `
model_list: [${target('a', ', weight: 3')}, ${target('b', '')}]
router_settings: { routing_strategy: ${from} }
`
  const { stdout, stderr } = await runCommand('import', 'litellm', written(text).path)
  expect(stderr).toBe('')
  expect(stdout).toContain(`strategy = "${to}"
targets = [{ model = "fast-1", weight = 3 }, { model = "fast-2" }]`)
})

test('no secret of the file is copied or printed', async () => {
  const { stdout, stderr } = await runCommand('import', 'litellm', written(yaml).path)
  expect(stdout + stderr).not.toMatch(/sk-/)
})

test('characters that TOML does not take as they are become escapes', async () => {
  const text = JSON.stringify({
    model_list: [{ model_name: 'a\u007f"\\', litellm_params: { model: 'groq/\ud800' } }],
  })
  const { stdout } = await runCommand('import', 'litellm', written(text).path)
  expect(stdout).toContain('id = "a\\u007f\\"\\\\"\nupstream_id = "\ufffd"')
})

test('--out writes a new file and replaces none', async () => {
  const { folder, path } = written(yaml)
  const out = join(folder, 'config.toml')
  const args = ['import', 'litellm', path, '--out', out]
  expect(await runCommand(...args)).toMatchObject({ code: 0, stdout: `wrote ${out}\n` })
  expect(readFileSync(out, 'utf8')).toMatch(/^# Converted/)
  expect(await runCommand(...args)).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/exists/),
  })
})

/** An entry of `model_list` for OpenAI with these parameters, in JSON, which is YAML too. */
function entry(params: object, more: object = {}): object {
  const common = { model: 'openai/gpt-4o', api_key: 'os.environ/OPENAI_API_KEY' }
  return { model_name: 'm', litellm_params: { ...common, ...params }, ...more }
}

async function convert(file: object) {
  return runCommand('import', 'litellm', written(JSON.stringify(file)).path)
}

describe('a proxy that asks for keys becomes a gateway that does', () => {
  test.each([
    { master_key: 'sk-1234' },
    { master_key: 'os.environ/LITELLM_MASTER_KEY' },
    { database_url: 'os.environ/DATABASE_URL' },
    { custom_auth: 'auth.check' },
    { enable_jwt_auth: true },
    { enable_oauth2_auth: true },
    { allowed_ips: ['10.0.0.1'] },
  ])('general_settings %j', async (settings) => {
    const { code, stdout } = await convert({
      model_list: [entry({})],
      general_settings: settings,
    })
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('\n[auth]\nenabled = true\n'),
    })
  })

  test('a master key in the environment alone', async () => {
    setVariables({ LITELLM_MASTER_KEY: 'sk-1234' })
    const { stdout, stderr } = await convert({ model_list: [entry({})] })
    expect(stdout).toContain('\n[auth]\nenabled = true\n')
    expect(stdout + stderr).not.toContain('sk-1234')
  })

  test.each([undefined, null, {}, { master_key: null }, { master_key: '' }, { alerting: [] }])(
    'not %j',
    async (settings) => {
      const { code, stdout } = await convert({
        model_list: [entry({})],
        general_settings: settings,
      })
      expect(code).toBe(0)
      expect(stdout).not.toContain('[auth]')
    },
  )
})

describe('a value in a variable', () => {
  test.each([
    ['api_base', 'azure/gpt-4o', 'https://eu.openai.azure.com', 'base_url'],
    ['api_version', 'azure/gpt-4o', '2024-10-21', 'api_version'],
    ['aws_region_name', 'bedrock/anthropic.claude', 'eu-central-1', 'base_url'],
  ])(
    '%s is what the variable has now, and the command says so',
    async (name, model, value, key) => {
      setVariables({ THE_VALUE: value })
      const base = name === 'api_version' ? { api_base: 'https://a.test' } : {}
      const { code, stdout, stderr } = await convert({
        model_list: [entry({ model, ...base, [name]: 'os.environ/THE_VALUE' })],
      })
      expect(code).toBe(0)
      expect(stdout).toContain(`\n${key} = "${value}"\n`)
      expect(stderr).toBe(
        `next:\nmodel_list[0] (m).litellm_params.${name}: this is the value that THE_VALUE has now\n`,
      )
    },
  )

  test('that is not set leaves the model out, and never sends its key to another address', async () => {
    const hidden = { api_base: 'os.environ/NOT_SET', api_key: 'os.environ/HIDDEN_KEY' }
    const { code, stdout, stderr } = await convert({
      model_list: [entry({}), { ...entry(hidden), model_name: 'hidden' }],
    })
    expect(code).toBe(0)
    expect(stdout).not.toMatch(/hidden|HIDDEN_KEY|os\.environ/)
    expect(stderr).toContain(
      'model_list[1] (hidden): api_base is in the variable NOT_SET, which is not set; set it for this command',
    )
  })

  test('that holds a credential is not copied', async () => {
    setVariables({ ADDRESS: 'https://user:canary@host.test/v1' })
    const { stdout, stderr } = await convert({
      model_list: [entry({}), entry({ api_base: 'os.environ/ADDRESS' })],
    })
    expect(stdout + stderr).not.toContain('canary')
    expect(stderr).toContain('holds an address with a credential')
  })
})

test.each([
  ['claude-sonnet-4-5', 'anthropic'],
  ['gpt-4o', 'openai'],
  ['o3-mini', 'openai'],
  ['command-r', 'cohere'],
  ['gemini-2.5-pro', 'vertex_ai'],
])('%s without a prefix goes to the vendor %s', async (model, kind) => {
  const { stdout } = await convert({ model_list: [entry({ model })] })
  expect(stdout).toContain(`kind = "${kind}"\n`)
})

test('an id of an unknown vendor does not go to OpenAI', async () => {
  const { code, stdout, stderr } = await convert({ model_list: [entry({ model: 'mystery-1' })] })
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toMatch(
    /: no entry of model_list can be converted\nmodel_list\[0\] \(m\): no kind for mystery-1\n$/,
  )
})

describe('a wildcard', () => {
  const named = (name: string, model: string) => ({ ...entry({ model }), model_name: name })

  test('at the end of the name becomes a pattern', async () => {
    const { code, stdout } = await convert({
      model_list: [
        named('openai/*', 'openai/*'),
        named('claude-*', 'anthropic/claude-*'),
        named('any-*', 'openai/gpt-4o'),
      ],
    })
    expect(code).toBe(0)
    expect(stdout).toContain('id = "openai/*"\nprices = "table"\n')
    expect(stdout).toContain('id = "claude-*"\nupstream_id = "claude-*"\nprices = "table"\n')
    expect(stdout).toContain('id = "any-*"\nupstream_id = "gpt-4o"\nprices = "table"\n')
  })

  test.each([
    ['some', 'groq/*', 'a pattern of the gateway has its * at the end of the id'],
    ['a-*-b', 'openai/a-*-b', 'a pattern of the gateway has its * at the end of the id'],
    ['a-*-*', 'openai/a-*-*', 'a pattern of the gateway has its * at the end of the id'],
    ['a-*', 'openai/*-b-*', 'the model has more than one *'],
    ['*', '*', 'the vendor depends on what the client writes'],
  ])('%s with the model %s is left out', async (name, model, reason) => {
    const { code, stdout, stderr } = await convert({ model_list: [entry({}), named(name, model)] })
    expect(code).toBe(0)
    expect(stdout).not.toContain('*')
    expect(stderr).toContain(`model_list[1] (${name}): ${reason}`)
  })

  test('that another entry has too is left out', async () => {
    const { code, stdout, stderr } = await convert({
      model_list: [named('openai/*', 'openai/*'), named('openai/*', 'openai/*')],
    })
    expect(code).toBe(0)
    expect(stdout.match(/id = "openai/g)).toHaveLength(1)
    expect(stderr).toContain('model_list[1] (openai/*): a second entry of one pattern')
  })

  test('does not serve the name of a model that is left out', async () => {
    const hidden = { ...entry({ api_base: 'os.environ/NOT_SET' }), model_name: 'in/house' }
    const { stdout, stderr } = await convert({
      model_list: [entry({}), hidden, named('in/*', 'openai/*'), named('*', 'openai/*')],
    })
    expect(stdout).not.toContain('*')
    expect(stderr).toContain(
      'model_list[2] (in/*): it would serve in/house, which is not converted',
    )
    expect(stderr).toContain('model_list[3] (*): it would serve in/house, which is not converted')
  })

  test('serves a name in a list of fallbacks', async () => {
    const { stdout } = await convert({
      model_list: [entry({}), named('groq/*', 'groq/*')],
      router_settings: { fallbacks: [{ m: ['groq/llama', 'groq/*'] }] },
    })
    expect(stdout).toContain('fallbacks = ["groq/llama"]')
  })
})

test('modes without an API here are left out', async () => {
  const { stdout, stderr } = await convert({
    model_list: [entry({}), { ...entry({}, { model_info: { mode: 'image_generation' } }) }],
  })
  expect(stdout.match(/\[\[providers\.models\]\]/g)).toHaveLength(1)
  expect(stderr).toContain('model_list[1] (m): the gateway has no API for mode image_generation')
})

test('regions, projects, aliases, default fallbacks and cooldowns are converted', async () => {
  const { code, stdout, stderr } = await convert({
    model_list: [
      entry({}),
      {
        model_name: 'gem',
        litellm_params: {
          model: 'vertex_ai/gemini-2.5-pro',
          vertex_project: 'p',
          vertex_location: 'europe-west4',
          vertex_credentials: 'os.environ/VERTEX',
        },
      },
      { ...entry({ model: 'openai/e' }, { model_info: { mode: 'embedding' } }), model_name: 'e' },
      {
        ...entry({ model: 'typesafe/jev-latest' }, { model_info: { mode: 'evaluation' } }),
        model_name: 'jev',
      },
    ],
    router_settings: {
      model_group_alias: { big: 'gem', none: 'gone' },
      default_fallbacks: ['m'],
      allowed_fails: 3,
      cooldown_time: 1.5,
    },
    litellm_settings: { drop_params: true },
  })
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: 'not converted:\nrouter_settings.model_group_alias.none: no model gone\n',
  })
  for (const part of [
    'circuit_failure_threshold = 4\ncircuit_cooldown_ms = 1500\n',
    'api_key_env = "VERTEX"\nbase_url = "https://europe-west4-aiplatform.googleapis.com/v1/projects/p/locations/europe-west4"\n',
    'id = "gem"\nupstream_id = "gemini-2.5-pro"\nfallbacks = ["m"]\n',
    'id = "e"\ncapabilities = ["embed"]\n',
    'kind = "typesafe"\n',
    'id = "jev"\nupstream_id = "jev-latest"\ncapabilities = ["decisions"]\n',
    'id = "big"\nstrategy = "weighted"\ntargets = [{ model = "gem" }]\nfallbacks = ["m"]\n',
  ]) {
    expect(stdout).toContain(part)
  }
})

test('a result that the gateway would refuse ends with 2 and the reasons, and is printed all the same', async () => {
  const { code, stdout, stderr } = await convert({
    model_list: [entry({ model: 'azure/deployment' }), entry({ api_base: 'not an address' })],
  })
  expect(code).toBe(2)
  expect(stdout).toMatch(/^# Converted/)
  expect(stderr).toMatch(
    /the result is not a valid configuration:\nproviders\[0\]\.base_url.*\nproviders\[1\]\.base_url \(line \d+\): .*\n$/,
  )
})

test('merge keys and anchors are read, however many there are', async () => {
  const text = `
shared: &shared { api_key: os.environ/OPENAI_API_KEY, api_base: "https://a.test/v1" }
model_list:
${Array.from({ length: 300 }, (_, at) => `  - { model_name: m${at}, litellm_params: { <<: *shared, model: openai/m${at} } }`).join('\n')}
`
  const { code, stdout } = await runCommand('import', 'litellm', written(text).path)
  expect(code).toBe(0)
  expect(stdout.match(/api_key_env = "OPENAI_API_KEY"\nbase_url/g)).toHaveLength(1)
  expect(stdout.match(/\nid = "m\d+"/g)).toHaveLength(300)
})

const bomb = [
  'a0: &a0 [x, x, x, x, x, x, x, x, x]',
  ...Array.from({ length: 9 }, (_, at) => `a${at + 1}: &a${at + 1} [${Array(9).fill(`*a${at}`)}]`),
].join('\n')

test.each([
  ['a: [sk-secret', /config\.yaml: line 1, column \d+: not YAML: /],
  ['a: "sk-secret', /config\.yaml: line 1, column \d+: not YAML: missing closing "quote/],
  ['a: 1\na: 2', /config\.yaml: line 2, column 1: not YAML: map keys must be unique/],
  ['a: sk-secret: b', /config\.yaml: line 1, column 4: not YAML: nested mappings/],
  ['a: !vault sk-secret', /config\.yaml: line 1, column 4: not YAML: unresolved tag: !vault/],
  ['a: !!python/object:os.system x', /config\.yaml: line 1, column 4: not YAML: unresolved tag/],
  ['a: 1\n---\nb: 2', /config\.yaml: line 2, column 1: not YAML: /],
  ['a: *gone', /config\.yaml: not YAML: unresolved alias .*: gone/],
  ['<<: 5', /config\.yaml: not YAML: merge sources must be maps/],
  [bomb, /config\.yaml: its aliases expand to too many values/],
  ['['.repeat(100_000), /config\.yaml: nested too deeply/],
  ['- '.repeat(10_000), /config\.yaml: nested too deeply/],
  [`${'['.repeat(5_000)}${']'.repeat(5_000)}`, /config\.yaml: nested too deeply/],
  [' '.repeat(11 * 1024 * 1024), /config\.yaml: over 10 MiB/],
  ['', /config\.yaml: is empty; expected a mapping with model_list/],
  ['# only a comment', /config\.yaml: is empty; expected a mapping with model_list/],
  ['- a', /config\.yaml: is a list; expected a mapping with model_list/],
  ['just text', /config\.yaml: is a single value; expected a mapping with model_list/],
  ['{}', /config\.yaml: no models in model_list, so there is nothing to convert/],
  ['model_list: []', /config\.yaml: no models in model_list/],
  ['model_list:', /config\.yaml: no models in model_list/],
  ['include: [a.yaml]', /nothing to convert; files of include are not read/],
  ['model_list: 5', /config\.yaml: model_list: expected array/],
  [
    'model_list: [{model_name: a}]',
    /config\.yaml: model_list\[0\]\.litellm_params: expected object/,
  ],
  ['model_list: &a [*a]', /config\.yaml: model_list\[0\]: expected object/],
])('%# is bad usage, without a quoted secret', async (text, message) => {
  const { code, stdout, stderr } = await runCommand('import', 'litellm', written(text).path)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toMatch(message)
  expect(stderr).not.toMatch(/secret|\n {4}at |node_modules|trace-warnings/)
})

test('a missing file is bad usage', async () => {
  expect(await runCommand('import', 'litellm', 'absent.yaml')).toMatchObject({
    code: 2,
    stderr: 'absent.yaml: no such file\n',
  })
})
