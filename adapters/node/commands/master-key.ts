import type { Command } from 'commander'
import { MasterKeyError, openMasterKey, rotateMasterKey } from '../../../src/auth/index.ts'
import type { OpenStore, Store } from '../../../src/store/index.ts'
import type { Sealer } from '../../../src/wire/seal.ts'
import { withStore } from '../admin/store.ts'
import { configOption } from '../config/config-text.ts'
import { CommandFailure } from '../failures/command-failure.ts'
import { openNodeStore } from '../ports/store.ts'
import { print } from '../process/print.ts'

/** Adds `master-key rotate`, which works on the database while no gateway uses it. */
export function addMasterKeyCommand(root: Command, openStore: OpenStore = openNodeStore): void {
  const masterKey = root
    .command('master-key')
    .description('change the master key of the database')
    .addHelpText('after', notes)
  masterKey
    .command('rotate')
    .description('seal all stored secrets again, with another master key; stop the gateway first')
    .option(...configOption)
    .addHelpText('after', notes)
    .action(async (_: unknown, command: Command) => {
      const sealers = await readSealers()
      await withStore({ command, openStore, claim: { onConflict: 'reject' } }, (store) =>
        rotate(store, sealers),
      )
    })
}

const notes = `
Environment:
  GATEWAY_MASTER_KEY_OLD       the master key that the database has
  GATEWAY_MASTER_KEY           the new master key, 64 hex digits

Example:
  GATEWAY_MASTER_KEY_OLD=$OLD GATEWAY_MASTER_KEY=$NEW gateway master-key rotate

Exit codes: 0 rotated, or nothing to do; 1 the database is in use or unavailable, or has another
master key; 2 bad usage, configuration or key. Unless it ends with 0, nothing has changed.`

interface Sealers {
  readonly from: Sealer
  readonly to: Sealer
}

async function readSealers(): Promise<Sealers> {
  const { GATEWAY_MASTER_KEY_OLD: before, GATEWAY_MASTER_KEY: after } = process.env
  try {
    const from = await openMasterKey(before, 'GATEWAY_MASTER_KEY_OLD')
    const to = await openMasterKey(after)
    if (before?.toLowerCase() === after?.toLowerCase()) {
      throw new CommandFailure(2, 'GATEWAY_MASTER_KEY_OLD: must differ from GATEWAY_MASTER_KEY')
    }
    return { from: from.sealer, to: to.sealer }
  } catch (error) {
    throw error instanceof MasterKeyError ? new CommandFailure(2, error.message) : error
  }
}

async function rotate(store: Store, sealers: Sealers): Promise<void> {
  const entry = {
    ts: Math.floor(Date.now() / 1000),
    action: 'master_key.rotate',
    subjectId: null,
    requestId: null,
    client: null,
  } as const
  const result = await rotateMasterKey({ store, ...sealers, entry })
  switch (result.kind) {
    case 'rotated':
      return print(
        `rotated the master key; secrets sealed again: ${result.values}\n` +
          'start the gateway with the new GATEWAY_MASTER_KEY, and without GATEWAY_MASTER_KEY_OLD',
      )
    case 'already-rotated':
      return print('nothing to do: the database already has the master key in GATEWAY_MASTER_KEY')
    case 'no-key':
      return print('nothing to do: the database is new and has no master key')
    case 'wrong-old-key':
      throw new CommandFailure(
        1,
        'GATEWAY_MASTER_KEY_OLD: is not the master key of the database; nothing has changed',
      )
    case 'unreadable': {
      const { purpose, name } = result.value
      throw new CommandFailure(
        1,
        `the stored ${purpose} ${JSON.stringify(name)} cannot be decrypted; nothing has changed: ` +
          'delete it through the admin API, then repeat',
      )
    }
    default:
      return result satisfies never
  }
}
