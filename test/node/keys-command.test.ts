import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command, CommanderError } from 'commander'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { run as runGateway } from '../../adapters/node/cli.ts'
import { CommandFailure } from '../../adapters/node/command-failure.ts'
import { addKeysCommand } from '../../adapters/node/keys-command.ts'
import { openNodeStore } from '../../adapters/node/ports/store.ts'
import { KeyRing } from '../../src/auth/index.ts'
import { firstTerm } from '../../src/core/budget-period.ts'
import type { GroupId, KeyId, NanoUsd } from '../../src/core/ids.ts'
import { type KeyRow, StoreFault, type StoreSettings } from '../../src/store/index.ts'
import { MemoryStore } from '../support/memory-store.ts'
import { unlimited, unlimitedFields } from '../support/unlimited.ts'

const groupId = 'c'.repeat(32) as GroupId
const noMoney = 0n as NanoUsd

let folder: string
let config: string
let store: MemoryStore
let opened: StoreSettings[]

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-keys-'))
  config = written('config.toml', '[auth]\nenabled = true\ndb_path = "keys.db"\n')
  store = new MemoryStore()
  opened = []
})

afterEach(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
  rmSync(folder, { recursive: true })
})

describe('keys create', () => {
  test('keys create prints the record and the secret, and stores only the digest of the secret', async () => {
    const { stdout } = await keys('create', '--name', 'batch')
    const { key, ...record } = JSON.parse(stdout)
    expect(key).toMatch(/^sk-gw-[0-9a-f]{64}$/)
    expect(record).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{32}$/),
      name: 'batch',
      group_id: null,
      ...unlimitedFields,
      budget_max: null,
      budget_spent: 0,
      rpm_limit: null,
      tpm_limit: null,
      expires_at: null,
      disabled: false,
      grace_ends_at: null,
      created_at: expect.closeTo(Date.now() / 1000, -1),
      deleted_at: null,
    })
    const [row] = store.keys.values()
    expect(JSON.stringify(row, String)).not.toContain(key)
    expect(row && opens(key, row)).toBe(true)
  })

  test('keys create accepts a budget, limits, an expiry and a group', async () => {
    await addGroup()
    const limits =
      '--models gpt-5 org/* --budget-period month --rpm-limit 0 --tpm-limit 90000 --max-parallel 3 --expires-at 1764000000'
    const { stdout } = await keys(
      ...`create --name batch --budget-max 12.345678901 ${limits} --group-id ${groupId}`.split(' '),
    )
    const wanted = {
      models: ['gpt-5', 'org/*'],
      budget_period: 'month',
      rpm_limit: 0,
      tpm_limit: 90_000,
      max_parallel: 3,
      expires_at: 1_764_000_000,
    }
    expect(JSON.parse(stdout)).toMatchObject({
      ...wanted,
      budget_max: 12.345678901,
      group_id: groupId,
    })
    expect([...store.keys.values()]).toMatchObject([{ budgetMax: 12_345_678_901n, groupId }])
  })

  test.each([
    ['--name', '', /--name.*1 to 256 characters/],
    ['--name', ' ', /--name.*1 to 256 characters/],
    ['--budget-max', '-1', /--budget-max.*US dollars from 1e-9 to 1e12/],
    ['--budget-max', '1e13', /--budget-max.*US dollars from 1e-9 to 1e12/],
    ['--budget-max', '1e-12', /--budget-max.*US dollars from 1e-9 to 1e12/],
    ['--budget-max', 'Infinity', /--budget-max.*US dollars/],
    ['--budget-max', '0x10', /--budget-max.*US dollars/],
    ['--rpm-limit', '1.5', /--rpm-limit.*whole number/],
    ['--tpm-limit', '', /--tpm-limit.*whole number/],
    ['--max-parallel', '-1', /--max-parallel.*whole number/],
    ['--models', 'a*b', /--models.*must be a model id/],
    ['--budget-period', 'year', /--budget-period.*day, week, month/],
    ['--tpm-limit', '9007199254740992', /--tpm-limit.*whole number/],
    ['--expires-at', '2026-01-01', /--expires-at.*whole number/],
    ['--colour', 'red', /unknown option '--colour'/],
  ])('%s %j is bad usage', async (option, value, message) => {
    const name = option === '--name' ? [] : ['--name', 'batch']
    await expectFailure(2, message, 'create', ...name, option, value)
    expect(opened).toEqual([])
  })

  test('keys create requires a name', () => expectFailure(2, /--name.*not specified/, 'create'))

  test.each([groupId, 'unknown-group'])('the unknown group %s is bad usage', async (id) => {
    const message = new RegExp(`^--group-id: no group has the id "${id}"`)
    await expectFailure(2, message, 'create', '--name', 'batch', '--group-id', id)
    expect([store.keys.size, store.closed]).toEqual([0, true])
  })
})

describe('keys list', () => {
  test('keys list prints the records in the order of their creation, without digest or secret', async () => {
    await keys('create', '--name', 'first')
    await keys('create', '--name', 'second')
    const { stdout } = await keys('list')
    expect(JSON.parse(stdout)).toMatchObject({ keys: [{ name: 'first' }, { name: 'second' }] })
    expect(stdout).not.toMatch(/sk-gw|digest|"key"/)
    for (const { digest } of store.keys.values()) expect(stdout).not.toContain(digest)
  })

  test('keys list shows the spend in the database', async () => {
    await addKey({ budgetSpent: 1_500_000_001n as NanoUsd })
    expect(await listed()).toMatchObject([{ budget_spent: 1.500000001 }])
  })

  test('keys list shows no spend of a period that is over', async () => {
    const term = { period: 'day', since: 0, resetsAt: 86_400 } as const
    const spend = { budgetSpent: 5n as NanoUsd, spentTotal: 5n as NanoUsd }
    await addKey({ budgetPeriod: 'day', term, ...spend })
    expect(await listed()).toMatchObject([{ budget_spent: 0, spent_total: 5e-9 }])
  })

  test('keys list leaves out deleted keys', async () => {
    await addKey({ deletedAt: 5 })
    expect(await listed()).toEqual([])
  })
})

describe('the database', () => {
  test('the database of the configuration is opened with the token of the environment', async () => {
    vi.stubEnv('GATEWAY_DB_AUTH_TOKEN', 'token')
    await keys('list')
    expect(opened).toEqual([{ path: 'keys.db', token: 'token' }])
    expect(store.closed).toBe(true)
  })

  test('an environment variable overrides the database', async () => {
    vi.stubEnv('GATEWAY_AUTH__DB_PATH', 'other.db')
    await keys('list')
    expect(opened).toEqual([{ path: 'other.db', token: undefined }])
  })

  test('the database is opened without a master key', async () => {
    vi.stubEnv('GATEWAY_MASTER_KEY', undefined)
    expect(await keys('create', '--name', 'batch')).toMatchObject({ stdout: expect.any(String) })
  })

  test('a database that cannot be used ends with 1 and the reason', async () => {
    store.trouble = 'refuse'
    await expectFailure(1, /^the database is out$/, 'list')
    await expectFailure(1, /^the database is out$/, 'create', '--name', 'batch')
    expect(store.closed).toBe(true)
  })

  test('a database that cannot be opened ends with 1 and the reason', () => {
    const open = () => Promise.reject(new StoreFault('keys.db: the file is not a database'))
    return expect(run(['list', '--config', config], open)).rejects.toMatchObject({
      exitCode: 1,
      lines: ['keys.db: the file is not a database'],
    })
  })
})

describe('the configuration', () => {
  test('--config may precede the command', async () => {
    await run(['list'], undefined, ['--config', config])
    expect(opened).toHaveLength(1)
  })

  test('the last --config wins', async () => {
    await run(['list', '--config', config], undefined, ['--config', 'absent.toml'])
    expect(opened).toHaveLength(1)
  })

  test('a missing configuration is bad usage', () =>
    expect(run(['list', '--config', 'absent.toml'])).rejects.toMatchObject({
      exitCode: 2,
      lines: ['absent.toml: no such file'],
    }))

  test('an invalid configuration is bad usage', async () => {
    config = written('broken.toml', 'auth.enabled = 1')
    await expectFailure(2, /^auth\.enabled.*true or false/, 'list')
  })

  test('a configuration without auth is bad usage', async () => {
    config = written('open.toml', '[auth]\nenabled = false')
    await expectFailure(2, /open\.toml: auth\.enabled is false/, 'list')
    await expectFailure(2, /auth\.enabled is false/, 'create', '--name', 'batch')
    expect(opened).toEqual([])
  })
})

describe('the command line', () => {
  beforeEach(() => {
    const path = JSON.stringify(join(folder, 'keys.db'))
    config = written('config.toml', `[auth]\nenabled = true\ndb_path = ${path}\n`)
  })

  test('the commands work while other processes have the database open', async () => {
    const server = await openNodeStore({ path: join(folder, 'keys.db'), token: undefined })
    try {
      const created = await gateway('keys', 'create', '--name', 'beside')
      expect(created).toMatchObject({ code: 0, stderr: '' })
      const { keys: rows } = await server.readAccounts()
      expect(rows).toMatchObject([{ name: 'beside', id: JSON.parse(created.stdout).id }])
      expect(JSON.parse((await gateway('keys', 'list')).stdout)).toMatchObject({
        keys: [{ name: 'beside' }],
      })
    } finally {
      await server.close()
    }
  })

  test('a bad value and an unknown group end with 2', async () => {
    const bad = await gateway('keys', 'create', '--name', 'batch', '--rpm-limit', 'many')
    expect(bad).toMatchObject({ code: 2, stdout: '' })
    const unknown = await gateway('keys', 'create', '--name', 'batch', '--group-id', groupId)
    expect(unknown).toEqual({
      code: 2,
      stdout: '',
      stderr: `--group-id: no group has the id "${groupId}"\n`,
    })
  })

  test('an unusable database ends with 1', async () => {
    writeFileSync(join(folder, 'keys.db'), 'not a database'.repeat(500))
    const { code, stdout, stderr } = await gateway('keys', 'list')
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/database.*\n$/)
  })
})

/** Runs the whole command line in this process. */
async function gateway(...args: readonly string[]) {
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    capture(name, (text) => {
      output[name] += text
    })
  }
  return { code: await runGateway([...args, '--config', config]), ...output }
}

/** Passes the output of this process to `take` instead of printing it. */
function capture(name: 'stdout' | 'stderr', take: (text: string) => void): void {
  vi.spyOn(process[name], 'write').mockImplementation((text, ...rest: unknown[]) => {
    take(String(text))
    const done = rest.at(-1)
    if (typeof done === 'function') done()
    return true
  })
}

/** Runs `keys` with these arguments and the test configuration. */
function keys(...args: readonly string[]) {
  return run([...args, '--config', config])
}

async function run(
  args: readonly string[],
  open = (settings: StoreSettings) => {
    opened.push(settings)
    store.closed = false
    return Promise.resolve(store)
  },
  before: readonly string[] = [],
) {
  const output = { stdout: '' }
  capture('stdout', (text) => {
    output.stdout += text
  })
  const root = new Command('gateway')
    .exitOverride()
    .enablePositionalOptions()
    .configureOutput({ writeErr: () => {} })
    .option('--config <path>')
  addKeysCommand(root, open)
  await root.parseAsync([...before, 'keys', ...args], { from: 'user' })
  return output
}

async function listed() {
  return JSON.parse((await keys('list')).stdout).keys
}

async function expectFailure(code: 1 | 2, message: RegExp, ...args: readonly string[]) {
  const error = await keys(...args).catch((reason: unknown) => reason)
  // The command line exits with 2 on all usage errors of commander.
  if (error instanceof CommanderError) expect(code).toBe(2)
  else expect(error).toMatchObject({ exitCode: code, constructor: CommandFailure })
  expect((error as Error).message).toMatch(message)
}

function written(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

async function addGroup(): Promise<void> {
  await store.createGroup({
    id: groupId,
    name: 'team',
    ...unlimited,
    createdAt: 1,
    deletedAt: null,
  })
}

async function addKey(change: Partial<KeyRow>): Promise<void> {
  const id = 'd'.repeat(32) as KeyId
  const limits = { ...unlimited, rpmLimit: null, tpmLimit: null, expiresAt: null }
  const row = { id, name: 'other', groupId: null, ...limits, disabled: false, createdAt: 1 }
  const spend = { budgetSpent: noMoney, spentTotal: noMoney, term: firstTerm }
  const fresh = { formerDigest: null, graceEndsAt: null, deletedAt: null }
  store.keys.set(id, { ...row, digest: '', ...fresh, ...spend, ...change })
}

/** Returns whether the key ring finds this key by this secret. */
function opens(secret: string, row: KeyRow): boolean {
  const ring = new KeyRing<{ readonly record: KeyRow }>()
  ring.put(row, { record: row })
  const headers = new Headers({ authorization: `Bearer ${secret}` })
  return ring.authenticate(headers, row.createdAt).record === row
}
