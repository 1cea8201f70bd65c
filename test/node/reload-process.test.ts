import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { built, command, finished } from './support/command.ts'
import {
  configFolder,
  freePort,
  type ShippedGateway,
  shippedGateway,
} from './support/shipped-gateway.ts'

/*
 * The shipped executable, which reloads its configuration on signals and file changes.
 */

/** Long enough for a busy machine. */
const soon = { timeout: 10_000 }

const reloads = 'gateway_config_reloads_total'
const failures = 'gateway_config_reload_failures_total'

/** A configuration with one model that streams ten words per second. */
function makeConfig(model: string, more = ''): string {
  return `${more}
[auth]
enabled = true
[[providers]]
name = "demo"
kind = "demo"
tokens_per_second = 10
[[providers.models]]
id = "${model}"
cost_per_1m_input = 1
`
}

function ask({ address, client }: ShippedGateway, model: string, headers: object = client) {
  return fetch(`${address}/v1/chat/completions`, {
    method: 'POST',
    headers: { ...headers },
    body: JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: 'Hello' }] }),
  })
}

describe('without a signal the gateway serves a changed file', () => {
  test('a file that is written in place, renamed over, or deleted and created again is reloaded', async () => {
    const { path } = configFolder(makeConfig('first'))
    const { models, count } = await shippedGateway(built.executable, path)
    writeFileSync(path, makeConfig('second'))
    await expect.poll(models, soon).toEqual(['second'])
    writeFileSync(`${path}.new`, makeConfig('third'))
    renameSync(`${path}.new`, path)
    await expect.poll(models, soon).toEqual(['third'])
    rmSync(path)
    await expect.poll(() => count(failures), soon).toBe(1)
    expect(await models()).toEqual(['third'])
    writeFileSync(path, makeConfig('fourth'))
    await expect.poll(models, soon).toEqual(['fourth'])
    expect(await count(reloads)).toBe(3)
  })

  test('a file swapped by symbolic links, as in a Kubernetes ConfigMap, is reloaded', async () => {
    const { home } = configFolder('')
    const exchange = (version: string, text: string) => {
      mkdirSync(join(home, version))
      writeFileSync(join(home, version, 'gateway.toml'), text)
      symlinkSync(version, join(home, '..data_tmp'))
      renameSync(join(home, '..data_tmp'), join(home, '..data'))
    }
    exchange('..1', makeConfig('first'))
    symlinkSync('..data/gateway.toml', join(home, 'gateway.toml'))
    const { models } = await shippedGateway(built.executable, join(home, 'gateway.toml'))
    exchange('..2', makeConfig('second'))
    rmSync(join(home, '..1'), { recursive: true })
    await expect.poll(models, soon).toEqual(['second'])
    exchange('..3', makeConfig('third'))
    await expect.poll(models, soon).toEqual(['third'])
  })

  test('a file that is emptied and written a moment later is reloaded without an error', async () => {
    const { path } = configFolder(makeConfig('first'))
    const { models, count, output } = await shippedGateway(built.executable, path)
    for (const model of ['second', 'third', 'fourth']) {
      writeFileSync(path, '[[providers]]\nname = "half')
      await wait(100)
      writeFileSync(path, makeConfig(model))
      await expect.poll(models, soon).toEqual([model])
    }
    expect(await count(failures)).toBe(0)
    expect(output.stdout).not.toContain('"level":"error"')
  })

  test('many writes in a row cause one reload', async () => {
    const { path } = configFolder(makeConfig('first'))
    const { models, count } = await shippedGateway(built.executable, path)
    for (let version = 0; version < 50; version++) writeFileSync(path, makeConfig(`m-${version}`))
    await expect.poll(models, soon).toEqual(['m-49'])
    expect(await count(reloads)).toBe(1)
  })
})

describe('SIGHUP', () => {
  test('SIGHUP reloads even an unchanged file, and running streams keep their configuration', async () => {
    const { path } = configFolder(makeConfig('first'))
    const gateway = await shippedGateway(built.executable, path)
    const { process: child, models, count } = gateway
    child.kill('SIGHUP')
    await expect.poll(() => count(reloads), soon).toBe(1)

    const response = await ask(gateway, 'first')
    writeFileSync(path, makeConfig('second'))
    child.kill('SIGHUP')
    await expect.poll(models, soon).toEqual(['second'])
    expect((await ask(gateway, 'first')).status).toBe(404)
    const text = await response.text()
    expect(text).toMatch(/data: \[DONE\]\n\n$/)
    expect(text).not.toContain('error')
  })

  test('SIGHUP loads keys that were created offline', async () => {
    const { path } = configFolder(makeConfig('first'))
    const gateway = await shippedGateway(built.executable, path)
    const { database, process: child } = gateway
    const create = [built.executable, 'keys', 'create', '--config', path, '--name', 'k', '--quiet']
    const env = { GATEWAY_AUTH__DB_PATH: database }
    const { stdout } = await finished(command(create, { env }))
    const headers = { authorization: `Bearer ${stdout.trim()}` }
    expect((await ask(gateway, 'first', headers)).status).toBe(401)
    child.kill('SIGHUP')
    await expect.poll(async () => (await ask(gateway, 'first', headers)).status, soon).toBe(200)
  })

  test('SIGHUP with an invalid file changes nothing and logs why', async () => {
    const { path } = configFolder(makeConfig('first'))
    const { process: child, models, count, until } = await shippedGateway(built.executable, path)
    writeFileSync(path, makeConfig('second', '[server]\nprot = 1'))
    child.kill('SIGHUP')
    await until(/"level":"error".*the configuration is refused: server\.prot \(line 2\)/)
    expect(await models()).toEqual(['first'])
    expect(await count(failures)).toBeGreaterThan(0)
    writeFileSync(path, makeConfig('third'))
    await expect.poll(models, soon).toEqual(['third'])
  })

  test('SIGHUP with another port keeps the bound one and logs that', async () => {
    const { path } = configFolder(makeConfig('first'))
    const gateway = await shippedGateway(built.executable, path)
    writeFileSync(path, makeConfig('second', 'log_format = "pretty"\n[server]\nhost = "0.0.0.0"'))
    gateway.process.kill('SIGHUP')
    await gateway.until(/"settings":\["server\.host"\],"msg":"ignored until a restart"/)
    expect(await gateway.models()).toEqual(['second'])
  })

  test('SIGHUP does not end a gateway without a file', async () => {
    const demo = command([built.executable, '--demo'], {
      env: { GATEWAY_SERVER__PORT: String(await freePort()) },
    })
    await demo.until(/curl \S+\/v1\/models/)
    demo.process.kill('SIGHUP')
    await demo.until(/configuration reloaded/)
    demo.process.kill('SIGTERM')
    expect(await finished(demo)).toMatchObject({ code: 0 })
  })
})
