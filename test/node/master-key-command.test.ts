import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Command } from 'commander'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { addMasterKeyCommand } from '../../adapters/node/commands/master-key.ts'
import { CommandFailure } from '../../adapters/node/failures/command-failure.ts'
import { checkMasterKey, openMasterKey } from '../../src/auth/index.ts'
import { databaseInUse, StoreFault, type StoreSettings } from '../../src/store/index.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { MemoryStore } from '../support/memory-store.ts'
import { folder } from './support/store.ts'

const oldKey = '1a'.repeat(32)
const newKey = '2b'.repeat(32)
const from = (await openMasterKey(oldKey)).sealer
const to = (await openMasterKey(newKey)).sealer
const clock = new ManualClock()

let store: MemoryStore
let opened: StoreSettings[]

beforeEach(async () => {
  store = new MemoryStore()
  opened = []
  await checkMasterKey(store, { sealer: from, clock })
  for (const [purpose, name] of [
    ['provider-key', 'p'],
    ['provider-key', 'org/q'],
    ['webhook-signing-key', 'receiver'],
  ] as const) {
    const sealed = await from.seal({ purpose, name }, `secret of ${name}`)
    await store.putSealed({ purpose, name, sealed, updatedAt: 7 })
  }
})

/** Runs the command; resolves to its standard output, or to the exit code and the message. */
async function rotate(env: Record<string, string>, fault?: StoreFault) {
  const config = join(folder(), 'config.toml')
  writeFileSync(config, '[auth]\nenabled = true\n')
  for (const name of ['GATEWAY_MASTER_KEY', 'GATEWAY_MASTER_KEY_OLD']) vi.stubEnv(name, env[name])
  onTestFinished(() => {
    vi.unstubAllEnvs()
    vi.restoreAllMocks()
  })
  let output = ''
  vi.spyOn(process.stdout, 'write').mockImplementation((text: unknown, ...more: unknown[]) => {
    output += String(text)
    for (const done of more) if (typeof done === 'function') done()
    return true
  })
  const root = new Command('gateway').exitOverride()
  addMasterKeyCommand(root, async (settings) => {
    opened.push(settings)
    if (fault) throw fault
    return store
  })
  try {
    await root.parseAsync(['master-key', 'rotate', '--config', config], { from: 'user' })
    return output
  } catch (error) {
    if (error instanceof CommandFailure) return [error.exitCode, error.message]
    throw error
  } finally {
    // The command closes its store. The test reads the same one.
    store.closed = false
  }
}

const keys = { GATEWAY_MASTER_KEY_OLD: oldKey, GATEWAY_MASTER_KEY: newKey }

async function sealedRows() {
  const purposes = ['provider-key', 'webhook-signing-key', 'canary'] as const
  return (await Promise.all(purposes.map((purpose) => store.readSealed(purpose)))).flat()
}

describe('master-key rotate', () => {
  test('seals every secret and the check of the master key again, and adds an audit row', async () => {
    expect(await rotate(keys)).toMatch(/^rotated the master key; secrets sealed again: 3\n/)
    const texts = await Promise.all((await sealedRows()).map((row) => to.open(row, row.sealed)))
    expect(texts.slice(0, 3)).toEqual(['secret of org/q', 'secret of p', 'secret of receiver'])
    await checkMasterKey(store, { sealer: to, clock })
    expect(store.calls.filter((call) => call === 'replaceSealed')).toHaveLength(1)
    expect(store.audit).toMatchObject([{ action: 'master_key.rotate', requestId: null }])
  })

  test('a second run has nothing to do and succeeds', async () => {
    await rotate(keys)
    const rows = await sealedRows()
    expect(await rotate(keys)).toMatch(/^nothing to do: the database already has/)
    expect(await sealedRows()).toEqual(rows)
  })

  test('a new database has nothing to do', async () => {
    store = new MemoryStore()
    expect(await rotate(keys)).toMatch(/^nothing to do: the database is new/)
  })

  test.each([
    [{ ...keys, GATEWAY_MASTER_KEY_OLD: '3c'.repeat(32) }, 1, /_OLD: is not the master key of the/],
    [
      { ...keys, GATEWAY_MASTER_KEY: oldKey.toUpperCase() },
      2,
      /_OLD: must differ from GATEWAY_MAST/,
    ],
    [{ GATEWAY_MASTER_KEY: newKey }, 2, /^GATEWAY_MASTER_KEY_OLD: is not set/],
    [{ GATEWAY_MASTER_KEY_OLD: oldKey }, 2, /^GATEWAY_MASTER_KEY: is not set/],
    [{ ...keys, GATEWAY_MASTER_KEY_OLD: 'x' }, 2, /^GATEWAY_MASTER_KEY_OLD: must be 64 hex digits/],
  ])('unusable keys change nothing: case %#', async (env, code, message) => {
    const rows = await sealedRows()
    expect(await rotate(env)).toEqual([code, expect.stringMatching(message)])
    expect(await sealedRows()).toEqual(rows)
  })

  test('a value that cannot be decrypted is named, and nothing changes', async () => {
    await store.putSealed({ purpose: 'provider-key', name: 'odd', sealed: 'v1.00', updatedAt: 7 })
    const rows = await sealedRows()
    const message = expect.stringMatching(/^the stored provider-key "odd" cannot be decrypted/)
    expect(await rotate(keys)).toEqual([1, message])
    expect(await sealedRows()).toEqual(rows)
  })

  test('the command takes the claim of a gateway, and is refused while a gateway runs', async () => {
    const fault = new StoreFault('another gateway uses the database x', databaseInUse)
    expect(await rotate(keys, fault)).toEqual([1, fault.message])
    expect(opened).toMatchObject([{ claim: { onConflict: 'reject' } }])
  })
})
