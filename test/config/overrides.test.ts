import { describe, expect, test } from 'vitest'
import { configOf, fileWithModels, load, problemsOf } from './support.ts'

describe('a variable overrides the setting that it names', () => {
  test('of the top level', async () => {
    expect((await configOf('', { GATEWAY_LOG_FORMAT: 'json' })).log_format).toBe('json')
  })

  test('of a table, whether or not the file has the table', async () => {
    const env = { GATEWAY_SERVER__PORT: '9090' }
    expect((await configOf('', env)).server.port).toBe(9090)
    const { server } = await configOf('[server]\nport = 1\nhost = "::1"', env)
    expect(server).toMatchObject({ port: 9090, host: '::1' })
  })

  test('of a section that is absent by default', async () => {
    const { webhooks } = await configOf('auth.enabled = true', {
      GATEWAY_WEBHOOKS__URL: 'https://hooks.example.com',
    })
    expect(webhooks?.url).toBe('https://hooks.example.com')
  })

  test('even where the file holds a value that is not valid', async () => {
    const { server } = await configOf('server.port = "http"', { GATEWAY_SERVER__PORT: '1' })
    expect(server.port).toBe(1)
  })

  test('and text that looks like a number stays text where text is wanted', async () => {
    expect((await configOf('', { GATEWAY_AUTH__DB_PATH: '123' })).auth.db_path).toBe('123')
  })

  test.each([
    ['true', true],
    ['TRUE', true],
    ['False', false],
  ])('with %s as a boolean', async (text, value) => {
    const { auth } = await configOf('', { GATEWAY_AUTH__ENABLED: text })
    expect(auth.enabled).toBe(value)
  })

  test.each([
    ['team', ['team']],
    ['team, user,', ['team', 'user']],
    ['["team","user"]', ['team', 'user']],
    ['[]', []],
  ])('with %s as a list of texts', async (text, value) => {
    const { telemetry } = await configOf('telemetry.metadata_labels = ["old"]', {
      GATEWAY_TELEMETRY__METADATA_LABELS: text,
    })
    expect(telemetry.metadata_labels).toEqual(value)
  })

  test.each(['90,50', '[90, 50]', '["90", "50"]'])('with %s as a list of numbers', async (text) => {
    const { webhooks } = await configOf('auth.enabled = true\nwebhooks.url = "https://a.test"', {
      GATEWAY_WEBHOOKS__THRESHOLDS: text,
    })
    expect(webhooks?.thresholds).toEqual([50, 90])
  })

  test('and an empty variable counts as unset', async () => {
    const env = { GATEWAY_SERVER__PORT: '', GATEWAY_NONSENSE: '', GATEWAY_LOG_FORMAT: undefined }
    expect((await configOf('server.port = 1', env)).server.port).toBe(1)
  })
})

describe('a value that is not valid is reported with its variable, and never repeated', () => {
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
    expect(await problemsOf(file, { [variable]: '-canary' })).toEqual([
      `${setting}: ${rule} (set by ${variable})`,
    ])
  })

  test('of a list that is broken JSON', async () => {
    const env = { GATEWAY_TELEMETRY__METADATA_LABELS: '["team"' }
    expect(await problemsOf('', env)).toEqual([
      'telemetry.metadata_labels: must be an array (set by GATEWAY_TELEMETRY__METADATA_LABELS)',
    ])
  })

  test.each([' ', '0x50', '0b1', '1e3', ' 80', '8_0', 'Infinity', '1.'])(
    '%j is no plain decimal number',
    async (text) => {
      expect(await problemsOf('', { GATEWAY_SERVER__SSE_HEARTBEAT_MS: text })).toEqual([
        'server.sse_heartbeat_ms: must be a whole number from 0 to 2147483647 (set by GATEWAY_SERVER__SSE_HEARTBEAT_MS)',
      ])
    },
  )

  test('a list of numbers holds plain decimal numbers too', async () => {
    const file = 'auth.enabled = true\nwebhooks.url = "https://a.test"'
    expect(await problemsOf(file, { GATEWAY_WEBHOOKS__THRESHOLDS: '50,0x50' })).toEqual([
      'webhooks.thresholds[1]: must be a whole number from 1 to 100 (set by GATEWAY_WEBHOOKS__THRESHOLDS)',
    ])
  })

  test.each(['1', '1979-05-27', '[]'])(
    'a table that the file writes as %s is reported, not replaced',
    async (value) => {
      const [problem = ''] = await problemsOf(`server = ${value}`, { GATEWAY_SERVER__PORT: '1' })
      expect(problem).toContain('server (line 1): must be a')
    },
  )
})

describe('a variable that names no setting is an error', () => {
  test.each([
    ['GATEWAY_SERVER__PROT', '; did you mean "GATEWAY_SERVER__PORT"?'],
    ['GATEWAY_SERVER_PORT', '; did you mean "GATEWAY_SERVER__PORT"?'],
    ['GATEWAY_PORT', '; did you mean "GATEWAY_SERVER__PORT"?'],
    ['GATEWAY_Server__Port', '; did you mean "GATEWAY_SERVER__PORT"?'],
    ['GATEWAY_LOGFORMAT', '; did you mean "GATEWAY_LOG_FORMAT"?'],
    ['GATEWAY_NONSENSE', ''],
    ['GATEWAY_', ''],
  ])('%s', async (variable, hint) => {
    expect(await problemsOf('', { [variable]: 'canary' })).toEqual([
      `${variable}: is not the name of a setting${hint}`,
    ])
  })

  test('one that stops at a table', async () => {
    expect(await problemsOf('', { GATEWAY_SERVER: 'canary' })).toEqual([
      'GATEWAY_SERVER: server is a table: name one of its settings after "__"',
    ])
  })

  test.each(['GATEWAY_PROVIDERS', 'GATEWAY_PROVIDERS__0__NAME'])(
    '%s: the providers stand in the file only',
    async (variable) => {
      expect(await problemsOf('', { [variable]: 'canary' })).toEqual([
        `${variable}: providers cannot be overridden by a variable: set its entries in the file`,
      ])
    },
  )
})

describe('no overrides are', () => {
  test.each(['GATEWAY_MASTER_KEY', 'GATEWAY_LOG_LEVEL', 'GATEWAY_DB_AUTH_TOKEN'])(
    '%s, which the process reads itself',
    async (variable) => {
      expect(await problemsOf('', { [variable]: 'x' })).toEqual([])
    },
  )

  test('variables without the prefix', async () => {
    expect(
      await problemsOf('', { PATH: '/bin', SERVER__PORT: 'x', gateway_server__port: 'x' }),
    ).toEqual([])
  })

  test('variables that the file names as the source of a key', async () => {
    const file = `auth.enabled = true
      webhooks = { url = "https://a.test", signing_key_env = "GATEWAY_HOOK_SECRET" }
      [[providers]]
      name = "a"
      kind = "openai"
      api_key_env = "GATEWAY_OPENAI_KEY"`
    const env = { GATEWAY_HOOK_SECRET: 'canary', GATEWAY_OPENAI_KEY: 'canary' }
    expect(await problemsOf(file, env)).toEqual([])
    expect(await problemsOf('', env)).toHaveLength(2)
  })

  test('variables that an override names as the source of a key', async () => {
    expect(
      await problemsOf('auth.enabled = true\nwebhooks.url = "https://a.test"', {
        GATEWAY_WEBHOOKS__SIGNING_KEY_ENV: 'GATEWAY_HOOK_SECRET',
        GATEWAY_HOOK_SECRET: 'canary',
      }),
    ).toEqual([])
  })

  test('variables that name a setting, when the file names them as the source of a key', async () => {
    const file = `${fileWithModels({})}api_key_env = "GATEWAY_AUTH__DB_PATH"`
    const { auth } = await configOf(file, { GATEWAY_AUTH__DB_PATH: 'canary' })
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
  ])('%s, which Kubernetes sets beside a service named gateway', async (variable, value) => {
    expect(await problemsOf('', { [variable]: value })).toEqual([])
  })
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
