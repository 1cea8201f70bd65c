import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test, vi } from 'vitest'
import { version } from '../../src/index.ts'
import { built, type Command, command, finished, type Setting } from './support/command.ts'
import { httpServer, tcpServer, timed } from './support/servers.ts'
import { configFolder, freePort } from './support/shipped-gateway.ts'

const demo = (extra = '') => `
  [server]
  port = 1
  [[providers]]
  name = "demo"
  kind = "demo"
  tokens_per_second = 1
  [[providers.models]]
  id = "demo"
  ${extra}
`

describe('usage', () => {
  test('--help lists options, variables and exit codes', async () => {
    const { code, stdout } = await finished(gateway(['--help']))
    expect(code).toBe(0)
    for (const word of ['--config', '--demo', 'GATEWAY_LOG_LEVEL', 'Exit codes']) {
      expect(stdout).toContain(word)
    }
  })

  test.each(['--version', '-v'])('%s prints the version', async (flag) => {
    expect(await finished(gateway([flag]))).toMatchObject({ code: 0, stdout: `${version}\n` })
  })

  test.each([
    ['health'],
    ['serve'],
    ['keys'],
    ['keys', 'create'],
    ['groups'],
    ['import'],
    ['master-key'],
  ])('%s %s has a help text with an example', async (...words) => {
    const { code, stdout } = await finished(gateway([...words, '--help']))
    expect(code).toBe(0)
    expect(stdout).toMatch(/\nExample:\n {2}(?:\w+=\$\w+ )*gateway \S/)
  })

  test.each([
    [['--colour'], "unknown option '--colour'\nrun 'gateway --help' for usage\n"],
    [['keys', 'create', '--name', 'a', '--budget', '5'], "unknown option '--budget'\n"],
    [['--config'], 'argument missing'],
    [['--cofig', 'a.toml'], '--config'],
    [['srve'], "unknown command 'srve'; did you mean 'serve'?"],
    [['frobnicate'], "unknown command 'frobnicate'; run 'gateway --help' for usage"],
    [['serve', 'now'], "unknown command 'now'"],
    [['keys', 'crate'], 'create'],
    [['--port', '0'], 'must be a whole number from 1 to 65535'],
    [['--port', '0x50'], 'must be a whole number from 1 to 65535'],
    [['--strict'], '--check-config'],
    [['serve', '-c', 'absent.toml'], 'absent.toml: no such file'],
    [['--demo', 'serve', '-c', 'a.toml'], 'cannot be used with'],
    [['--demo', '--config', 'a.toml'], 'cannot be used with'],
    [['--config', 'absent.toml'], 'absent.toml: no such file'],
    [['--config', '.'], 'is a directory; Docker creates one when the file to mount does not exist'],
    [[], 'gateway --demo'],
  ])('%j is bad usage', async (args, hint) => {
    const { code, stdout, stderr } = await finished(gateway(args))
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(hint)
  })

  test('an invalid GATEWAY_LOG_LEVEL ends with 2 and lists the valid levels', async () => {
    const { code, stderr } = await finished(
      gateway(['--demo'], { env: { GATEWAY_LOG_LEVEL: 'loud' } }),
    )
    expect(code).toBe(2)
    expect(stderr).toContain('debug, info, warn, error')
  })
})

describe('--check-config', () => {
  const providers = `
    [auth]
    enabled = true
    db_path = "libsql://db.test?authToken=canary"
    [[providers]]
    name = "openai"
    kind = "openai"
    api_key_env = "OPENAI_API_KEY"
    [[providers]]
    name = "mistral"
    kind = "mistral"
    [[providers]]
    name = "local server"
    kind = "vllm"
    base_url = "http://127.0.0.1:8000/v1?key=canary"
    [[providers]]
    name = "claude"
    kind = "anthropic"
    api_key_env = "CLAUDE_KEY"
  `
  const missing = [
    'provider openai has no credential: the variable OPENAI_API_KEY is unset or empty',
    'provider mistral has no credential: set api_key_env to the variable that holds its key',
    'provider keys stored through the admin API are not checked: --check-config does not open the database',
    'the gateway would not start: GATEWAY_MASTER_KEY: is not set; with auth on it must be 64 hex ' +
      'digits, as `openssl rand -hex 32` prints them',
  ]

  test('--check-config lists each provider and the state of its credential, without secrets', async () => {
    const { code, stdout, stderr } = await finished(
      gateway(['--check-config'], { config: providers, env: { CLAUDE_KEY: 'canary' } }),
    )
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout.split('\n')).toEqual([
      'config.toml is valid: 4 providers, 0 models',
      '  listens on 127.0.0.1:8080',
      '  openai        openai     https://api.openai.com/v1  ! OPENAI_API_KEY is unset',
      '  mistral       mistral    https://api.mistral.ai/v1  ! api_key_env is not set',
      '  local server  vllm       http://127.0.0.1:8000/v1   not needed',
      '  claude        anthropic  https://api.anthropic.com  present',
      '  auth is on, with the database libsql://db.test',
      '  cache is off',
      'warning: no model is configured, so the gateway cannot serve any request',
      ...missing.map((line) => `warning: ${line}`),
      '',
    ])
  })

  test('--strict fails when credentials are missing, and names each one', async () => {
    const args = ['--check-config', '--strict']
    const env = { CLAUDE_KEY: 'canary' }
    expect(await finished(gateway(args, { config: providers, env }))).toEqual({
      code: 2,
      stdout: '',
      stderr: `${missing.join('\n')}\n`,
    })
    expect(await finished(gateway(args, { config: demo() }))).toMatchObject({ code: 0 })
  })

  test('--check-config names a provider key that a header cannot carry, and --strict fails', async () => {
    const config = '[[providers]]\nname = "p"\nkind = "openai"\napi_key_env = "KEY"\n'
    const problem =
      'provider p has no usable credential in KEY: it contains a control character, such as a line ' +
      'break, which a header cannot carry'
    const check = (key: string, ...args: string[]) =>
      finished(gateway(['--check-config', ...args], { config, env: { KEY: key } }))
    const { stdout } = await check('canary\ncanary')
    expect(stdout).toContain('! KEY is not usable\n')
    expect(stdout).toContain(`warning: ${problem}\n`)
    expect(stdout).not.toContain('canary')
    const stderr = `${problem}\n`
    expect(await check('canary\ncanary', '--strict')).toEqual({ code: 2, stdout: '', stderr })
    expect(await check('canary\n', '--strict')).toMatchObject({ code: 0 })
  })

  test('--check-config names the missing or malformed keys that the start needs', async () => {
    const config = `
      [auth]
      enabled = true
      [webhooks]
      url = "https://hooks.test/"
      signing_key_env = "HOOK_SECRET"
    `
    const unset =
      'the gateway would not start: webhooks.signing_key_env: the variable HOOK_SECRET is unset or ' +
      'empty, and no signing key is stored'
    const malformed =
      'the gateway would not start: GATEWAY_MASTER_KEY: must be 64 hex digits, as `openssl rand ' +
      '-hex 32` prints them'
    const bad = { GATEWAY_MASTER_KEY: 'canary', HOOK_SECRET: '' }
    const good = { GATEWAY_MASTER_KEY: 'c0ffee12'.repeat(8), HOOK_SECRET: 'canary' }
    const check = (env: Readonly<Record<string, string>>, ...args: string[]) =>
      finished(gateway(['--check-config', ...args], { config, env }))
    const lax = await check(bad)
    expect(lax).toMatchObject({ code: 0, stderr: '' })
    for (const problem of [malformed, unset]) expect(lax.stdout).toContain(`warning: ${problem}\n`)
    expect(lax.stdout).not.toContain('canary')
    const stderr = `${malformed}\n${unset}\n`
    expect(await check(bad, '--strict')).toEqual({ code: 2, stdout: '', stderr })
    expect(await check(good, '--strict')).toMatchObject({ code: 0, stderr: '' })
  })

  test('--check-config validates the proxy variables', async () => {
    const env = { https_proxy: 'socks5://user:canary@proxy:1080' }
    expect(await finished(gateway(['--check-config', '--demo'], { env }))).toEqual({
      code: 2,
      stdout: '',
      stderr: 'HTTPS_PROXY must be an http or https URL\n',
    })
  })

  test('--check-config shows the proxies in force, without credentials', async () => {
    const env = { https_proxy: 'http://user:canary@proxy.test:3128' }
    const { stdout } = await finished(gateway(['--check-config', '--demo'], { env }))
    expect(stdout).toContain('\n  outgoing proxies: https_proxy=http://***@proxy.test:3128\n')
  })

  test('--check-config validates GATEWAY_LOG_LEVEL', async () => {
    const env = { GATEWAY_LOG_LEVEL: 'zzz' }
    const { code, stderr } = await finished(
      gateway(['--check-config'], { config: 'log_format = "xml"', env }),
    )
    expect(code).toBe(2)
    expect(stderr.split('\n')).toEqual([
      'log_format (line 1): must be "pretty" or "json"',
      'GATEWAY_LOG_LEVEL must be one of debug, info, warn, error',
      '',
    ])
  })

  test('--check-config prints one line per problem', async () => {
    const config = demo('fallbacks = ["absent"]').replace('port = 1', 'prot = 1')
    const check = await finished(gateway(['--check-config'], { config }))
    expect({ code: check.code, stdout: check.stdout }).toEqual({ code: 2, stdout: '' })
    expect(check.stderr.trimEnd().split('\n')).toHaveLength(2)
    expect(check.stderr).toContain('did you mean "port"?')
  })

  test('--check-config reads the ca_file of each provider', async () => {
    const config = `[[providers]]\nname = "p"\nkind = "openai"\nca_file = "absent.pem"\n`
    const { code, stderr } = await finished(gateway(['--check-config'], { config }))
    expect(code).toBe(2)
    expect(stderr).toBe('providers[0].ca_file (line 4): cannot be read (ENOENT)\n')
  })

  test('--check-config validates the demo configuration', async () => {
    expect(await finished(gateway(['--demo', '--check-config']))).toMatchObject({ code: 0 })
  })
})

describe('serving', () => {
  test('an invalid configuration ends with 2', async () => {
    const { code, stderr } = await finished(gateway([], { config: 'log_format = "xml"' }))
    expect(code).toBe(2)
    expect(stderr).toContain('log_format')
  })

  test('an invalid proxy variable ends with 2 and a message without its value', async () => {
    const env = { https_proxy: 'socks5://user:canary@proxy:1080' }
    const { code, stderr } = await finished(gateway(['--demo'], { env }))
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'HTTPS_PROXY must be an http or https URL\n',
    })
  })

  test('a port in use ends with 1 and one line of error', async () => {
    const { port } = await tcpServer(() => {})
    const { code, stderr } = await finished(gateway(['--demo'], { env: portAs(port) }))
    expect(code).toBe(1)
    expect(stderr).toMatch(/^cannot listen on 127\.0\.0\.1:\d+: the port is in use.*\n$/)
  })

  test('the start logs one line with file, providers, auth and warnings', async () => {
    const config = `
      log_format = "json"
      [[providers]]
      name = "p"
      kind = "openai"
      api_key_env = "P_KEY"
      [[providers.models]]
      id = "m"
    `
    const port = await freePort()
    const child = gateway(['serve', '--port', String(port)], { config })
    const [line] = await child.until(/.*"msg":"listening"/)
    const warning = 'provider p has no credential: the variable P_KEY is unset or empty'
    expect(JSON.parse(`${line}}`)).toMatchObject({
      address: `http://127.0.0.1:${port}`,
      file: expect.stringMatching(/^\/.+\/config\.toml$/),
      providers: [
        {
          name: 'p',
          kind: 'openai',
          base_url: 'https://api.openai.com/v1',
          credential: 'P_KEY is unset',
        },
      ],
      models: 1,
      routes: 0,
      auth: { enabled: false },
      cache: { enabled: false },
      warnings: [warning],
    })
    await child.until(new RegExp(`"level":"warn".*${warning}`))
  })

  test('the demo answers, is healthy, and stops on SIGTERM within a second', async () => {
    const env = portAs(await freePort())
    const child = gateway(['--demo'], { env, config: demo() })
    const curl = await child.until(/curl -N (\S+) -d '(.*)'/)
    const response = await fetch(curl[1] ?? '', { method: 'POST', body: curl[2] ?? '' })
    expect(await response.text()).toMatch(/data: \[DONE\]\n\n$/)

    const health = await finished(gateway(['health'], { env, config: demo() }))
    expect(health).toMatchObject({ code: 0, stdout: '', stderr: '' })

    child.process.kill('SIGTERM')
    expect(await timed(finished(child))).toBeLessThan(1_000)
    expect(await finished(child)).toMatchObject({ code: 0, stderr: '' })
  })

  test('the start logs the proxies in force, without credentials', async () => {
    const env = {
      ...portAs(await freePort()),
      HTTPS_PROXY: 'http://user:canary@proxy.test:3128',
      NO_PROXY: '.corp',
    }
    const child = gateway([], { env, config: demo() })
    const [line] = await child.until(/listening .*/)
    expect(line).toContain(
      'proxies={"https_proxy":"http://***@proxy.test:3128","no_proxy":".corp"}',
    )
    expect(child.output.stdout).not.toContain('canary')
  })

  test('health ends with 1 when the gateway does not run', async () => {
    const { code, stderr } = await finished(gateway(['health'], { config: demo() }))
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'not healthy: ECONNREFUSED\n' })
  })

  test('health works for the demo and with a missing or invalid file', async () => {
    const env = portAs(await freePort())
    const child = gateway(['--demo'], { env })
    await child.until(/listening/)
    const config = 'log_format = "xml"'
    for (const [args, setting] of [
      [['health'], { env }],
      [['health', '--config', '/absent/config.toml'], { env }],
      [['health', '--config', '.'], { env }],
      [['health'], { env, config }],
      [['health'], { config: `${config}\n[server]\nport = ${env['GATEWAY_SERVER__PORT']}` }],
      [['health'], { env, config: 'not TOML' }],
      [['health'], { env: { ...env, GATEWAY_SERVER__HOST: '0.0.0.0' } }],
    ] satisfies [string[], Setting][]) {
      expect(await finished(gateway(args, setting))).toEqual({ code: 0, stdout: '', stderr: '' })
    }
  })

  test('health ends with 1 when the gateway responds with an error', async () => {
    const { port } = await httpServer((_, response) => response.writeHead(503).end())
    const { code, stderr } = await finished(
      gateway(['health'], { env: portAs(port), config: demo() }),
    )
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'not healthy: status 503\n',
    })
  })

  test('a second signal ends the process at once with 1', async () => {
    const env = portAs(await freePort())
    const child = gateway([], { env, config: demo() })
    const [, address = ''] = await child.until(/listening address=(\S+)/)
    const response = await fetch(`${address}/v1/chat/completions`, {
      method: 'POST',
      body: '{"model":"demo","stream":true,"messages":[{"role":"user","content":"Hello"}]}',
    })
    const reading = response.text().catch(() => 'cut')
    child.process.kill('SIGINT')
    await child.until(/shutting down running=1/)
    child.process.kill('SIGINT')
    expect(await finished(child)).toMatchObject({ code: 1 })
    expect(await reading).toBe('cut')
  })
})

describe('a slow reader of the output', () => {
  /** What --check-config has to say of it is longer than any pipe holds. */
  const many = Array.from(
    { length: 3_000 },
    (_, at) => `
      [[providers]]
      name = "a provider with the number ${at}"
      kind = "openai"
      api_key_env = "KEY_OF_${at}"
    `,
  ).join('')

  test('a slow reader gets the complete output', async () => {
    const running = gateway(['--check-config'], { config: many })
    running.process.stdout?.pause()
    const exited = new Promise((resolve) => running.process.once('exit', resolve))
    await Promise.race([exited, sleep(1_500)])
    running.process.stdout?.resume()
    const { code, stdout } = await finished(running)
    expect(code).toBe(0)
    expect(stdout).toMatch(/KEY_OF_2999 is unset or empty\n$/)
  })

  test('a closed output does not fail the command', async () => {
    const running = gateway(['--check-config'], { config: many })
    running.process.stdout?.destroy()
    expect(await finished(running)).toMatchObject({ code: 0, stderr: '' })
  })

  test.runIf(process.platform === 'linux')(
    'a paused terminal does not keep a failing command from exiting',
    async () => {
      const { home, path } = configFolder(many)
      const code = join(home, 'code')
      const line = `${built.executable} --check-config --strict --config ${path}; echo $? > ${code}`
      // The terminal takes no more once nobody reads what comes out of it.
      const terminal = command(['-qec', `${process.execPath} ${line}`, '/dev/null'], {
        executable: 'script',
      })
      terminal.process.stdout?.pause()
      await vi.waitFor(() => expect(readFileSync(code, 'utf8')).toBe('2\n'), 5_000)
    },
  )
})

function gateway(args: readonly string[], setting?: Setting): Command {
  return command([built.executable, ...args], setting)
}

function portAs(port: number): Record<string, string> {
  return { GATEWAY_SERVER__PORT: String(port) }
}
