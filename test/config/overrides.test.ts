import { describe, expect, test } from 'vitest'
import { readServerSettings } from '../../src/config/index.ts'
import { fileWithModels, listProblems, load, loadValid } from './support.ts'

describe('a variable overrides the setting that it names', () => {
  test('a variable may override a top-level setting', async () => {
    expect((await loadValid('', { GATEWAY_LOG_FORMAT: 'json' })).log_format).toBe('json')
  })

  test('a variable may override a setting of a table that the file lacks', async () => {
    const env = { GATEWAY_SERVER__PORT: '9090' }
    expect((await loadValid('', env)).server.port).toBe(9090)
    const { server } = await loadValid('[server]\nport = 1\nhost = "::1"', env)
    expect(server).toMatchObject({ port: 9090, host: '::1' })
  })

  test('a variable may set a table that is absent by default', async () => {
    const { webhooks } = await loadValid('auth.enabled = true', {
      GATEWAY_WEBHOOKS__URL: 'https://hooks.example.com',
    })
    expect(webhooks?.url).toBe('https://hooks.example.com')
  })

  test('a variable replaces an invalid value of the file', async () => {
    const { server } = await loadValid('server.port = "http"', { GATEWAY_SERVER__PORT: '1' })
    expect(server.port).toBe(1)
  })

  test('a number stays text when the setting is text', async () => {
    expect((await loadValid('', { GATEWAY_AUTH__DB_PATH: '123' })).auth.db_path).toBe('123')
  })

  test.each([
    ['true', true],
    ['TRUE', true],
    ['False', false],
  ])('a boolean may be written as %s', async (text, value) => {
    const { auth } = await loadValid('', { GATEWAY_AUTH__ENABLED: text })
    expect(auth.enabled).toBe(value)
  })

  test.each([
    ['team', ['team']],
    ['team, user,', ['team', 'user']],
    ['["team","user"]', ['team', 'user']],
    ['[]', []],
  ])('a list of texts may be written as %s', async (text, value) => {
    const { telemetry } = await loadValid('telemetry.metadata_labels = ["old"]', {
      GATEWAY_TELEMETRY__METADATA_LABELS: text,
    })
    expect(telemetry.metadata_labels).toEqual(value)
  })

  test.each(['90,50', '[90, 50]', '["90", "50"]'])(
    'a list of numbers may be written as %s',
    async (text) => {
      const { webhooks } = await loadValid('auth.enabled = true\nwebhooks.url = "https://a.test"', {
        GATEWAY_WEBHOOKS__THRESHOLDS: text,
      })
      expect(webhooks?.thresholds).toEqual([50, 90])
    },
  )

  test('an empty variable counts as unset', async () => {
    const env = { GATEWAY_SERVER__PORT: '', GATEWAY_NONSENSE: '', GATEWAY_LOG_FORMAT: undefined }
    expect((await loadValid('server.port = 1', env)).server.port).toBe(1)
  })
})

describe('PORT, which hosting platforms set', () => {
  const env = { PORT: '9090' }

  test.each(['', '[server]\nhost = "::1"'])(
    'is the port when nothing else sets one: %j',
    async (file) => {
      expect((await loadValid(file, env)).server.port).toBe(9090)
      expect(readServerSettings(file, env).port).toBe(9090)
    },
  )

  test.each([
    ['the file', 'server.port = 1', {}],
    ['an override', '', { GATEWAY_SERVER__PORT: '1' }],
  ])('is ignored when %s sets the port', async (_, file, more) => {
    expect((await loadValid(file, { ...env, ...more })).server.port).toBe(1)
    expect(readServerSettings(file, { ...env, ...more }).port).toBe(1)
  })

  test.each(['', undefined, '\\\\.\\pipe\\0a1b'])('%j counts as unset', async (PORT) => {
    expect((await loadValid('', { PORT })).server.port).toBe(8080)
  })

  test('is ignored when the file names it as the variable of a key', async () => {
    const file = fileWithModels({ a: '' }).replace('kind', 'api_key_env = "PORT"\nkind')
    expect((await loadValid(file, { PORT: 'secret' })).server.port).toBe(8080)
  })

  test.each(['abc', '99999', '80.5', 'tcp://10.0.0.1:80'])(
    '%j is refused by name',
    async (PORT) => {
      expect(await listProblems('', { PORT })).toEqual([
        'server.port: must be a whole number from 1 to 65535 (set by PORT)',
      ])
    },
  )

  test('does not replace a malformed table', async () => {
    const [problem = ''] = await listProblems('server = 1', env)
    expect(problem).toContain('server (line 1): must be a')
  })
})

describe('an invalid value is reported with its variable, and never quoted', () => {
  test.each([
    ['GATEWAY_SERVER__PORT', 'server.port', 'must be a whole number from 1 to 65535'],
    ['GATEWAY_AUTH__ENABLED', 'auth.enabled', 'must be true or false'],
    ['GATEWAY_LOG_FORMAT', 'log_format', 'must be "pretty" or "json"'],
    ['GATEWAY_WEBHOOKS__URL', 'webhooks.url', 'must be an http or https URL'],
    [
      'GATEWAY_TELEMETRY__METADATA_LABELS',
      'telemetry.metadata_labels[0]',
      'must be a legal label name: 1 to 64 letters, digits and "_", not a digit first',
    ],
  ])('%s', async (variable, setting, rule) => {
    const file = 'auth.enabled = true\n[webhooks]\nurl = "https://a.test"\n[server]\nport = 1'
    expect(await listProblems(file, { [variable]: '-canary' })).toEqual([
      `${setting}: ${rule} (set by ${variable})`,
    ])
  })

  test('a list that is invalid JSON is refused', async () => {
    const env = { GATEWAY_TELEMETRY__METADATA_LABELS: '["team"' }
    expect(await listProblems('', env)).toEqual([
      'telemetry.metadata_labels: must be an array (set by GATEWAY_TELEMETRY__METADATA_LABELS)',
    ])
  })

  test.each([' ', '0x50', '0b1', '1e3', ' 80', '8_0', 'Infinity', '1.'])(
    '%j is no plain decimal number',
    async (text) => {
      expect(await listProblems('', { GATEWAY_SERVER__SSE_HEARTBEAT_MS: text })).toEqual([
        'server.sse_heartbeat_ms: must be a whole number from 0 to 2147483647 (set by GATEWAY_SERVER__SSE_HEARTBEAT_MS)',
      ])
    },
  )

  test('a list of numbers accepts only plain decimal numbers', async () => {
    const file = 'auth.enabled = true\nwebhooks.url = "https://a.test"'
    expect(await listProblems(file, { GATEWAY_WEBHOOKS__THRESHOLDS: '50,0x50' })).toEqual([
      'webhooks.thresholds[1]: must be a whole number from 1 to 100 (set by GATEWAY_WEBHOOKS__THRESHOLDS)',
    ])
  })

  test.each(['1', '1979-05-27', '[]'])(
    'a table that the file writes as %s is reported, not replaced',
    async (value) => {
      const [problem = ''] = await listProblems(`server = ${value}`, { GATEWAY_SERVER__PORT: '1' })
      expect(problem).toContain('server (line 1): must be a')
    },
  )
})

describe('an unknown variable is an error', () => {
  test.each([
    ['GATEWAY_SERVER__PROT', '; did you mean "GATEWAY_SERVER__PORT"?'],
    ['GATEWAY_SERVER_PORT', '; did you mean "GATEWAY_SERVER__PORT"?'],
    ['GATEWAY_PORT', '; did you mean "GATEWAY_SERVER__PORT"?'],
    ['GATEWAY_Server__Port', '; did you mean "GATEWAY_SERVER__PORT"?'],
    ['GATEWAY_LOGFORMAT', '; did you mean "GATEWAY_LOG_FORMAT"?'],
    ['GATEWAY_NONSENSE', ''],
    ['GATEWAY_', ''],
  ])('%s', async (variable, hint) => {
    expect(await listProblems('', { [variable]: 'canary' })).toEqual([
      `${variable}: is not the name of a setting${hint}`,
    ])
  })

  test('a variable that names a table is an error', async () => {
    expect(await listProblems('', { GATEWAY_SERVER: 'canary' })).toEqual([
      'GATEWAY_SERVER: server is a table: name one of its settings after "__"',
    ])
  })

  test.each(['GATEWAY_PROVIDERS', 'GATEWAY_PROVIDERS__0__NAME'])(
    '%s: the providers stand in the file only',
    async (variable) => {
      expect(await listProblems('', { [variable]: 'canary' })).toEqual([
        `${variable}: providers cannot be overridden by a variable: set its entries in the file`,
      ])
    },
  )
})

describe('variables that are not overrides', () => {
  test.each([
    'GATEWAY_MASTER_KEY',
    'GATEWAY_MASTER_KEY_OLD',
    'GATEWAY_LOG_LEVEL',
    'GATEWAY_DB_AUTH_TOKEN',
  ])('%s, which the process reads itself', async (variable) => {
    expect(await listProblems('', { [variable]: 'x' })).toEqual([])
  })

  test('a variable without the prefix is ignored', async () => {
    expect(
      await listProblems('', { PATH: '/bin', SERVER__PORT: 'x', gateway_server__port: 'x' }),
    ).toEqual([])
  })

  test('a variable that the file names in api_key_env is ignored', async () => {
    const file = `auth.enabled = true
      webhooks = { url = "https://a.test", signing_key_env = "GATEWAY_HOOK_SECRET" }
      [[providers]]
      name = "a"
      kind = "openai"
      api_key_env = "GATEWAY_OPENAI_KEY"`
    const env = { GATEWAY_HOOK_SECRET: 'canary', GATEWAY_OPENAI_KEY: 'canary' }
    expect(await listProblems(file, env)).toEqual([])
    expect(await listProblems('', env)).toHaveLength(2)
  })

  test('a variable that an override names in signing_key_env is ignored', async () => {
    expect(
      await listProblems('auth.enabled = true\nwebhooks.url = "https://a.test"', {
        GATEWAY_WEBHOOKS__SIGNING_KEY_ENV: 'GATEWAY_HOOK_SECRET',
        GATEWAY_HOOK_SECRET: 'canary',
      }),
    ).toEqual([])
  })

  test('a variable that the file names in api_key_envs is ignored', async () => {
    const file = `${fileWithModels({})}api_key_envs = ["A", "GATEWAY_OPENAI_KEY"]`
    expect(await listProblems(file, { GATEWAY_OPENAI_KEY: 'canary' })).toEqual([])
  })

  test('a variable that the file names in api_key_env overrides no setting, whatever its name', async () => {
    const file = `${fileWithModels({})}api_key_env = "GATEWAY_AUTH__DB_PATH"`
    const { auth } = await loadValid(file, { GATEWAY_AUTH__DB_PATH: 'canary' })
    expect(auth.db_path).toBe('gateway.db')
  })

  test.each([
    ['GATEWAY_SERVICE_HOST', '10.0.0.1'],
    ['GATEWAY_SERVICE_PORT', '8080'],
    ['GATEWAY_SERVICE_PORT_HTTP', '8080'],
    ['GATEWAY_PORT', 'tcp://10.0.0.1:8080'],
    ['GATEWAY_PORT_8080_TCP', 'tcp://10.0.0.1:8080'],
    ['GATEWAY_PORT_8080_TCP_ADDR', '10.0.0.1'],
    ['GATEWAY_METRICS_SERVICE_HOST', '10.0.0.1'],
  ])(
    '%s, which Kubernetes sets for a service named gateway, is ignored',
    async (variable, value) => {
      expect(await listProblems('', { [variable]: value })).toEqual([])
    },
  )
})

test('unknown variables and problems of the file are reported together', async () => {
  const result = await load('[server]\nprot = 1', { GATEWAY_PORT: '1' })
  expect(result).toEqual({
    ok: false,
    problems: [
      { setting: 'server.prot', line: 2, message: 'unknown setting', suggestion: 'port' },
      {
        setting: 'GATEWAY_PORT',
        message: 'is not the name of a setting',
        suggestion: 'GATEWAY_SERVER__PORT',
      },
    ],
  })
})
