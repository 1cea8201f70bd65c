import { createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { version } from '../../src/index.ts'
import {
  buildPackage,
  type Command,
  command,
  finished,
  type Package,
  type Setting,
} from './support/command.ts'
import { httpServer, tcpServer, timed } from './support/servers.ts'

let built: Package

beforeAll(async () => {
  built = await buildPackage()
})

afterAll(() => built.remove())

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
  test('--help tells of options, variables and exit codes', async () => {
    const { code, stdout } = await finished(gateway(['--help']))
    expect(code).toBe(0)
    for (const word of ['--config', '--demo', 'GATEWAY_LOG_LEVEL', 'Exit codes']) {
      expect(stdout).toContain(word)
    }
  })

  test('--version is the version', async () => {
    expect(await finished(gateway(['--version']))).toMatchObject({
      code: 0,
      stdout: `${version}\n`,
    })
  })

  test.each([
    [['--colour'], 'unknown option'],
    [['--config'], 'argument missing'],
    [['serve'], "unknown command 'serve'"],
    [['--demo', '--config', 'a.toml'], 'cannot be used with'],
    [['--config', 'absent.toml'], 'absent.toml: no such file'],
    [['--config', '.'], 'EISDIR'],
    [[], 'gateway --demo'],
  ])('%j is bad usage', async (args, hint) => {
    const { code, stdout, stderr } = await finished(gateway(args))
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(hint)
  })

  test('a bad GATEWAY_LOG_LEVEL is told with the good ones', async () => {
    const { code, stderr } = await finished(
      gateway(['--demo'], { env: { GATEWAY_LOG_LEVEL: 'loud' } }),
    )
    expect(code).toBe(2)
    expect(stderr).toContain('debug, info, warn, error')
  })
})

describe('--check-config', () => {
  test('tells of a valid configuration in short', async () => {
    const { code, stdout, stderr } = await finished(gateway(['--check-config'], { config: demo() }))
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain('config.toml is valid: 1 provider, 1 model\n')
  })

  test('has one line a problem', async () => {
    const config = demo('fallbacks = ["absent"]').replace('port = 1', 'prot = 1')
    const check = await finished(gateway(['--check-config'], { config }))
    expect({ code: check.code, stdout: check.stdout }).toEqual({ code: 2, stdout: '' })
    expect(check.stderr.trimEnd().split('\n')).toHaveLength(2)
    expect(check.stderr).toContain('did you mean "port"?')
  })

  test('judges the demo configuration as well', async () => {
    expect(await finished(gateway(['--demo', '--check-config']))).toMatchObject({ code: 0 })
  })
})

describe('serving', () => {
  test('a configuration that is not valid ends with 2', async () => {
    const { code, stderr } = await finished(gateway([], { config: 'log_format = "xml"' }))
    expect(code).toBe(2)
    expect(stderr).toContain('log_format')
  })

  test('a port in use ends with 1 and one line', async () => {
    const { port } = await tcpServer(() => {})
    const { code, stderr } = await finished(gateway(['--demo'], { env: portAs(port) }))
    expect(code).toBe(1)
    expect(stderr).toMatch(/^cannot listen on 127\.0\.0\.1:\d+: the port is in use.*\n$/)
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

  test('the health of what does not run is 1', async () => {
    const { code, stderr } = await finished(gateway(['health'], { config: demo() }))
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'not healthy: ECONNREFUSED\n' })
    expect(await finished(gateway(['health']))).toMatchObject({ code: 1 })
  })

  test('the health of what answers with an error is 1', async () => {
    const { port } = await httpServer((_, response) => response.writeHead(503).end())
    const { code, stderr } = await finished(
      gateway(['health'], { env: portAs(port), config: demo() }),
    )
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'not healthy: it answers with status 503\n',
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

function gateway(args: readonly string[], setting?: Setting): Command {
  return command([built.executable, ...args], setting)
}

function portAs(port: number): Record<string, string> {
  return { GATEWAY_SERVER__PORT: String(port) }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' ? (address?.port ?? 0) : 0
}
