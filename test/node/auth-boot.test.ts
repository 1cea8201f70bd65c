import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { built, command, copyPackage, finished, type Package } from './support/command.ts'
import { hostAt, masterKey } from './support/keyed-host.ts'
import { libsqlServer } from './support/libsql-server.ts'
import { folder, valueOf } from './support/store.ts'

/*
 * The executable with auth enabled.
 */

/** The next version of the gateway, with one more migration. */
const next = copyPackage()

beforeAll(() => {
  const journal = join(next.migrations, 'meta/_journal.json')
  const { entries, ...rest } = JSON.parse(readFileSync(journal, 'utf8'))
  const last = entries.at(-1)
  const entry = { ...last, idx: last.idx + 1, when: last.when + 1_000, tag: '9999_next' }
  writeFileSync(journal, JSON.stringify({ ...rest, entries: [...entries, entry] }))
  writeFileSync(join(next.migrations, '9999_next.sql'), 'ALTER TABLE virtual_keys ADD colour text;')
})

afterAll(() => next.remove())

const config = (path: string) => `
  [server]
  port = 1
  [auth]
  enabled = true
  db_path = ${JSON.stringify(path)}
  [[providers]]
  name = "demo"
  kind = "demo"
  models = [{ id = "m", cost_per_1m_output = 10 }]
`

interface Boot {
  readonly path: string
  readonly env?: Readonly<Record<string, string>>
  readonly version?: Package
  readonly args?: readonly string[]
}

function start({ path, env = {}, version = built, args = [] }: Boot) {
  return command([version.executable, '--config', 'config.toml', ...args], {
    config: config(path),
    env: { GATEWAY_MASTER_KEY: masterKey, GATEWAY_SERVER__PORT: String(port++), ...env },
  })
}

// Below the system's range of ephemeral ports.
let port = 21_000 + (process.pid % 5_000)

/** Starts the gateway and waits until it listens. */
async function running(boot: Boot) {
  const process = start(boot)
  const [, address = ''] = await process.until(/(http:\/\/127\.0\.0\.1:\d+)/)
  const stop = () => {
    process.process.kill('SIGTERM')
    return finished(process)
  }
  return { ...hostAt(address), stop }
}

const database = () => join(folder(), 'gateway.db')

describe('the master key', () => {
  test.each([
    ['missing', ''],
    ['too short', 'c0ffee'.repeat(10)],
    ['too long', 'c0ffee12'.repeat(9)],
    ['not hexadecimal', 'secret-z'.repeat(8)],
    ['surrounded by blanks', ` ${'c0ffee12'.repeat(8)} `],
  ])(
    'a master key that is %s ends the start with 2 and a message without the key',
    async (_, value) => {
      const path = database()
      const { code, stdout, stderr } = await finished(
        start({ path, env: { GATEWAY_MASTER_KEY: value } }),
      )
      expect({ code, stderr }).toMatchObject({ code: 2 })
      expect(stderr).toMatch(/GATEWAY_MASTER_KEY: .*must be 64 hex digits.*\n$/)
      expect(stderr.split('\n')).toHaveLength(2)
      if (value !== '') expect(stdout + stderr).not.toContain(value.trim().slice(0, 12))
    },
  )

  test('checking a configuration needs neither master key nor database', async () => {
    const path = join(folder(), 'absent', 'gateway.db')
    const check = start({ path, args: ['--check-config'], env: { GATEWAY_MASTER_KEY: '' } })
    expect(await finished(check)).toMatchObject({ code: 0, stderr: '' })
  })

  test('a master key that differs from the one of the database ends the start with 1', async () => {
    const path = database()
    const first = await running({ path })
    const { key } = await first.key()
    expect(await first.stop()).toMatchObject({ code: 0 })
    const other = await finished(start({ path, env: { GATEWAY_MASTER_KEY: '7'.repeat(64) } }))
    expect(other).toMatchObject({ code: 1 })
    expect(other.stderr).toMatch(/^the database was created with another master key.*\n$/)
    const again = await running({ path })
    expect((await again.chat(key)).status).toBe(200)
  })
})

describe('a database that cannot be used ends the start with 1 and the reason', () => {
  test.each([
    ['a missing folder', (path: string) => join(path, 'absent', 'gateway.db'), /no such folder/],
    ['a folder in its place', (path: string) => path, /a folder, not a file/],
    ['a server that does not exist', () => 'http://127.0.0.1:20999', /cannot be reached/],
  ])('%s', async (_, pathIn, reason) => {
    const { code, stderr } = await finished(start({ path: pathIn(folder()) }))
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringMatching(reason) })
    expect(stderr.split('\n')).toHaveLength(2)
  })

  test('a file that is not a database', async () => {
    const path = database()
    writeFileSync(path, 'a letter to a friend. '.repeat(1_000))
    const { code, stderr } = await finished(start({ path }))
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('not a database'),
    })
  })
})

describe('opening a database', () => {
  test('a database of an older version is migrated, one of a newer version is refused', async () => {
    const path = database()
    const old = await running({ path })
    const { id, key } = await old.key({ budget_max: 1 })
    await old.chat(key)
    await old.stop()

    const updated = await running({ path, version: next })
    const { body } = await updated.admin('GET', `/admin/keys/${id}`)
    expect(body).toMatchObject({ id, budget_max: 1, budget_spent: expect.any(Number) })
    expect(body['budget_spent']).not.toBe(0)
    expect((await updated.chat(key)).status).toBe(200)
    await updated.stop()
    expect(await valueOf(path, 'select count(colour is null) from virtual_keys')).toBe(1)

    const { code, stderr } = await finished(start({ path }))
    expect(code).toBe(1)
    expect(stderr).toMatch(/the database was created by a newer version of the gateway.*\n$/)
  })

  test('a libSQL server is used with the token of the environment', async () => {
    const server = await libsqlServer()
    const boot = { path: server.url, env: { GATEWAY_DB_AUTH_TOKEN: 'db-token' } }
    const first = await running(boot)
    const { id, key } = await first.key({ budget_max: 1 })
    expect((await first.chat(key)).status).toBe(200)
    const spent = (await first.admin('GET', `/admin/keys/${id}`)).body['budget_spent']
    expect(await first.stop()).toMatchObject({ code: 0 })
    expect([...server.tokens]).toEqual(['Bearer db-token'])

    const second = await running(boot)
    expect((await second.admin('GET', `/admin/keys/${id}`)).body['budget_spent']).toBe(spent)
    expect((await second.admin('GET', '/admin/usage/export')).body['rows']).toHaveLength(1)
  })

  test('a restored backup serves with its own keys and spend', async () => {
    const path = database()
    const first = await running({ path })
    const { key } = await first.key()
    await first.stop()
    const restored = join(folder(), 'restored')
    mkdirSync(restored)
    cpSync(path, join(restored, 'gateway.db'))
    const second = await running({ path: join(restored, 'gateway.db') })
    expect((await second.chat(key)).status).toBe(200)
  })
})

describe('keys created on the command line', () => {
  test('a key from the command line works in a gateway that starts later', async () => {
    const path = database()
    const create = command(
      [built.executable, 'keys', 'create', '--config', 'config.toml', '--name', 'early'],
      { config: config(path), env: { GATEWAY_MASTER_KEY: masterKey } },
    )
    const { code, stdout } = await finished(create)
    expect(code).toBe(0)
    const [key = ''] = /sk-gw-\w+/.exec(stdout) ?? []
    expect((await (await running({ path })).chat(key)).status).toBe(200)
  })

  test('a key from the command line works in a running gateway at once', async () => {
    const path = database()
    const process = start({ path })
    const [, address = ''] = await process.until(/(http:\/\/127\.0\.0\.1:\d+)/)
    const create = command(
      [built.executable, 'keys', 'create', '--url', address, '--name', 'late'],
      { env: { GATEWAY_MASTER_KEY: masterKey } },
    )
    const [key = ''] = /sk-gw-\w+/.exec((await finished(create)).stdout) ?? []
    expect((await hostAt(address).chat(key)).status).toBe(200)
  })
})

test('without auth no database is opened and the admin API is absent', async () => {
  const path = join(folder(), 'gateway.db')
  const env = { GATEWAY_AUTH__ENABLED: 'false', GATEWAY_MASTER_KEY: '' }
  const { admin, chat } = await running({ path, env })
  expect((await chat('no key')).status).toBe(200)
  for (const route of ['/admin/keys', '/admin/config', '/admin/usage', '/admin/webhooks']) {
    expect((await admin('GET', route)).status).toBe(404)
  }
  expect(() => readFileSync(path)).toThrow('ENOENT')
})
