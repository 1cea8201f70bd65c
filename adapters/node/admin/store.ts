import type { Command } from 'commander'
import { loadConfig } from '../../../src/config/index.ts'
import { kinds } from '../../../src/providers/index.ts'
import {
  type OpenStore,
  type Store,
  type StoreClaim,
  type StoreSettings,
} from '../../../src/store/index.ts'
import { defaultConfig, readConfigText } from '../config/config-text.ts'
import { CommandFailure } from '../failures/command-failure.ts'
import { toConfigFailure } from '../failures/config-failure.ts'
import { toDatabaseFailure } from '../failures/database-failure.ts'
import { withProgress } from '../output/progress.ts'
import { printNote } from '../process/print.ts'
import { describeDatabase } from '../store/file-path.ts'

export interface StoreAccess {
  readonly command: Command
  readonly openStore: OpenStore
  /** For a command that may not run beside a gateway; absent for the others. */
  readonly claim?: StoreClaim
}

/** Opens the database of the configuration, which must exist, runs `work` on it, and closes it. */
export async function withStore(
  { command, openStore, claim }: StoreAccess,
  work: (store: Store) => Promise<void>,
): Promise<void> {
  // An option given before the command belongs to the root command.
  const { config } = { ...command.optsWithGlobals(), ...command.opts() }
  const settings = { ...(await readStoreSettings(config)), claim, onMissing: 'reject' } as const
  try {
    const store = await withProgress('opening the database', openStore(settings))
    await printNote(`using the database ${describeDatabase(settings.path)}`)
    await work(store).finally(() => store.close())
  } catch (error) {
    throw toDatabaseFailure(error)
  }
}

/** Reads where the database of a configuration is. Rejects with a `CommandFailure` when auth is off. */
export async function readStoreSettings(path: string | undefined): Promise<StoreSettings> {
  const { env } = process
  const result = await loadConfig({ text: await readConfigText(path), env, kinds })
  if (!result.ok) throw toConfigFailure(result.problems, path ?? defaultConfig)
  const { enabled, db_path: database } = result.config.auth
  if (!enabled) {
    const name = path ?? defaultConfig
    throw new CommandFailure(2, `${name}: auth.enabled is false; set it to true to use keys`)
  }
  return { path: database, token: env['GATEWAY_DB_AUTH_TOKEN'] || undefined }
}
