import { statSync, symlinkSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { nodePorts } from '../../adapters/node/index.ts'
import { openNodeStore } from '../../adapters/node/ports/store.ts'
import { createGateway, type Gateway, StartError } from '../../src/index.ts'
import type { Store, StoreClaim, StoreSettings } from '../../src/store/index.ts'
import { built, type Command, command, finished } from './support/command.ts'
import { masterKey } from './support/keyed-host.ts'
import { libsqlServer } from './support/libsql-server.ts'
import { timed } from './support/servers.ts'
import { freePort } from './support/shipped-gateway.ts'
import { connect, folder, openStore, threadEntry, valueOf } from './support/store.ts'

/** The claim of a gateway that shares its state. */
function claim(prefix: string): StoreClaim {
  return { sharing: { prefix, address: 'redis:6379', database: 0 }, onConflict: 'reject' }
}

/** The claim of a gateway that shares no state. */
const sole: StoreClaim = { onConflict: 'reject' }

const config = (database: string, enabled = true) => `
  [auth]
  enabled = ${enabled}
  db_path = ${JSON.stringify(database)}
  [[providers]]
  name = "demo"
  kind = "demo"
  models = [{ id = "m", cost_per_1m_output = 1000 }]
`

describe('a second process on a database file', () => {
  async function gateway(database: string, ...args: string[]): Promise<Command> {
    const port = String(await freePort())
    return command([built.executable, ...args], {
      config: config(database),
      env: {
        GATEWAY_MASTER_KEY: masterKey,
        GATEWAY_LOG_FORMAT: 'json',
        GATEWAY_SERVER__PORT: port,
      },
    })
  }

  async function serving(...args: Parameters<typeof gateway>): Promise<Command> {
    const running = await gateway(...args)
    await running.until(/"msg":"listening"/)
    return running
  }

  test('a second process does not start, and names the first process and the option that allows it', async () => {
    const database = join(folder(), 'gateway.db')
    const first = await serving(database)
    const { code, stderr } = await finished(await gateway(database))
    expect(code).toBe(1)
    expect(stderr).toMatch(
      new RegExp(
        `^another gateway uses the database .*gateway\\.db: process ${first.process.pid} on .*, since`,
      ),
    )
    expect(stderr).toContain('--allow-second')
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
    expect(statSync(`${database}-lock`).mode & 0o777).toBe(0o600)
  })

  test('a second process does not start with another path of the same file', async () => {
    const database = join(folder(), 'gateway.db')
    await serving(database)
    const link = join(folder(), 'link.db')
    symlinkSync(database, link)
    expect(await finished(await gateway(link))).toMatchObject({ code: 1 })
  })

  test('a second process starts with --allow-second and warns about the first', async () => {
    const database = join(folder(), 'gateway.db')
    const first = await serving(database)
    const second = await serving(database, '--allow-second')
    expect(second.output.stdout).toMatch(
      new RegExp(`"level":"error".*"process":"process ${first.process.pid} on `),
    )
  })

  test('a second process starts as soon as the first has ended or was killed', async () => {
    const database = join(folder(), 'gateway.db')
    for (const signal of ['SIGKILL', 'SIGTERM', 'SIGKILL'] as const) {
      const running = await serving(database)
      running.process.kill(signal)
      await expect(finished(running)).resolves.toBeDefined()
    }
  })

  test('commands, backups and readers may use the database of a running gateway', async () => {
    const database = join(folder(), 'gateway.db')
    const running = await serving(database)
    const [, address = ''] = await running.until(/"address":"([^"]+)"/)
    const create = ['keys', 'create', '--name', 'k', '--url', address]
    const { code } = await finished(await gateway(database, ...create))
    expect(code).toBe(0)
    const copy = join(folder(), 'copy.db')
    await connect(database).execute({ sql: 'vacuum into ?', args: [copy] })
    expect(await valueOf(copy, 'select name from virtual_keys')).toBe('k')
  })
})

describe('processes that share their state', () => {
  /** Nothing listens there: a server that is away does not keep a gateway from starting. */
  const server = 'redis://user:canary@127.0.0.1:1'

  async function gateway(database: string, prefix?: string, ...args: string[]): Promise<Command> {
    const sharing = prefix === undefined ? '' : `[shared]\nurl = "${server}"\nprefix = "${prefix}"`
    return command([built.executable, ...args], {
      config: config(database) + sharing,
      env: {
        GATEWAY_MASTER_KEY: masterKey,
        GATEWAY_LOG_FORMAT: 'json',
        GATEWAY_SERVER__PORT: String(await freePort()),
      },
    })
  }

  const listening = /"msg":"listening"/

  test('they start at the same moment on a new database, and a kill makes room for another prefix', async () => {
    const database = join(folder(), 'gateway.db')
    const group = await Promise.all([1, 2, 3].map(() => gateway(database, 'a')))
    await Promise.all(group.map((one) => one.until(listening)))

    const { code, stderr } = await finished(await gateway(database, 'b'))
    expect(code).toBe(1)
    const state = (prefix: string) =>
      `prefix "${prefix}" on 127.0.0.1:1 of ${hostname()}, database 0`
    expect(stderr).toContain(
      `, which shares its state: ${state('a')}; the state of this one is ${state('b')}, ` +
        'which is away, so the two cannot be compared; stop it first',
    )
    expect(stderr).not.toContain('canary')

    for (const one of group) {
      one.process.kill('SIGKILL')
      await finished(one)
    }
    await (await gateway(database, 'b')).until(listening)
  })

  test('a process that shares nothing does not start beside them, nor do they beside it', async () => {
    const database = join(folder(), 'gateway.db')
    const sharing = await gateway(database, 'a')
    await sharing.until(listening)
    const alone = await finished(await gateway(database))
    expect(alone.code).toBe(1)
    expect(alone.stderr).toContain('which shares its state: prefix "a"')
    sharing.process.kill('SIGTERM')
    await finished(sharing)

    await (await gateway(database)).until(listening)
    const refused = await finished(await gateway(database, 'a'))
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('which does not share its state; ')
    const allowed = await gateway(database, 'a', '--allow-second')
    await allowed.until(listening)
    expect(allowed.output.stdout).toContain('each of them grants the full budgets')
  })
})

describe('a second gateway in one process', () => {
  async function gateway(path: string, { enabled = true, allowSecond = false } = {}) {
    const created = await createGateway({
      ...nodePorts({ GATEWAY_LOG_LEVEL: 'error' }),
      env: { GATEWAY_MASTER_KEY: masterKey },
      config: config(path, enabled),
      log: undefined,
      allowSecond,
      openStore: (settings) => openNodeStore(settings, { entry: threadEntry }),
    })
    onTestFinished(async () => {
      await created.close()
    })
    return created
  }

  test('a second gateway in one process is refused until the first is closed', async () => {
    const path = join(folder(), 'gateway.db')
    const first: Gateway = await gateway(path)
    await expect(gateway(path)).rejects.toThrow(StartError)
    // The refusal did not affect the first gateway.
    await expect(gateway(path)).rejects.toThrow(/allowSecond/)
    await first.close()
    await gateway(path)
  })

  test('a second gateway in one process is allowed with allowSecond or without auth', async () => {
    const path = join(folder(), 'gateway.db')
    await gateway(path)
    await expect(gateway(path, { allowSecond: true })).resolves.toBeDefined()
    await expect(gateway(path, { enabled: false })).resolves.toBeDefined()
  })
})

test.each(['a file', 'a server'])(
  'a gateway on %s keeps its place, at once, when its thread is started anew',
  async (what) => {
    const directory = folder()
    const path = what === 'a file' ? join(directory, 'gateway.db') : (await libsqlServer()).url
    const program = join(directory, 'thread.mjs')
    writeFileSync(
      program,
      `import ${JSON.stringify(threadEntry.href)}
      import { parentPort } from 'node:worker_threads'
      parentPort.on('message', ({ method }) => { if (method === 'deleteSealed') throw new Error() })`,
    )
    const store = await openStore(path, {
      entry: pathToFileURL(program),
      claim: sole,
      lease: 6_000,
    })
    await expect(store.deleteSealed('canary', 'x')).rejects.toThrow('ended during the call')
    expect(await timed(store.readAccounts())).toBeLessThan(5_000)
    const second = openStore(path, { entry: threadEntry, claim: sole, lease: 500 })
    await expect(second).rejects.toMatchObject({ code: 'DATABASE_IN_USE' })
  },
)

describe('a second gateway on a database server', () => {
  const lease = 1_500

  async function opened(path: string, settings: Partial<StoreSettings> = {}): Promise<Store> {
    return openStore(path, { entry: threadEntry, claim: sole, lease, ...settings })
  }

  test('a second gateway is refused while the first renews its lease, and names the first process', async () => {
    const { url } = await libsqlServer()
    await opened(url)
    await sleep(2 * lease)
    await expect(opened(url)).rejects.toMatchObject({
      code: 'DATABASE_IN_USE',
      message: expect.stringMatching(
        new RegExp(`^another gateway uses the database at 127.*: process ${process.pid} on `),
      ),
    })
  })

  test('a second gateway starts when the lease of a killed one expires', async () => {
    const server = await libsqlServer()
    await opened(server.url, { claim: undefined })
    const endsAt = `unixepoch('subsec') * 1000 + ${lease}`
    await server.execute(
      `insert into gateway_lease (id, holder, process, ends_at)
       values (1, 'killed', 'process 1', ${endsAt})`,
    )
    const start = performance.now()
    await opened(server.url)
    expect(performance.now() - start).toBeGreaterThan(lease / 3)
  })

  test('a second gateway starts at once after a clean end of the first, or when it is allowed', async () => {
    const { url } = await libsqlServer()
    const first = await opened(url)
    await first.close()
    await opened(url)
    const reports: unknown[] = []
    await opened(url, {
      claim: { onConflict: 'report' },
      report: (...report) => reports.push(report),
    })
    expect(reports).toMatchObject([[expect.stringContaining('another gateway uses'), {}]])
  })

  test('gateways that share their state hold the lease together', async () => {
    const { url } = await libsqlServer()
    const first = await opened(url, { claim: claim('a') })
    await opened(url, { claim: claim('a') })
    await first.close()
    const theirs = ', which shares its state: prefix "a" on redis:6379, database 0'
    await expect(opened(url, { claim: claim('b') })).rejects.toMatchObject({
      code: 'DATABASE_SHARED',
      message: expect.stringMatching(
        new RegExp(`${theirs}; the state of this one is prefix "b" on redis:6379, database 0$`),
      ),
    })
    await expect(opened(url)).rejects.toThrow(new RegExp(`${theirs}$`))
  })

  test('gateways that share their state do not join one that does not', async () => {
    const { url } = await libsqlServer()
    const alone = await opened(url)
    const refused = opened(url, { claim: claim('a') })
    await expect(refused).rejects.toThrow(/, which does not share its state$/)
    await alone.close()
    await opened(url, { claim: claim('a') })
  })

  test('a command does not block the start of a gateway', async () => {
    const { url } = await libsqlServer()
    await opened(url, { claim: undefined })
    await expect(opened(url)).resolves.toBeDefined()
    await expect(opened(url, { claim: undefined })).resolves.toBeDefined()
  })
})
