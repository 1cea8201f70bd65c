import { defaultConfig } from '../config/config-text.ts'
import type { CommandFailure } from '../failures/command-failure.ts'
import { DatabaseInUse } from '../host/open-gateway.ts'
import type { OpenAdminClient } from './api.ts'
import { openDatabaseAdmin } from './database.ts'
import { openOfflineAdmin } from './offline.ts'

/** A configuration without a gateway that runs at its address. */
export interface LocalTarget {
  /** The path of the configuration, when an option names it. */
  readonly path: string | undefined
  /** As in `StoreSettings`. */
  readonly onMissing: 'create' | 'reject'
}

interface LocalGateway extends LocalTarget {
  /** The text of the configuration. */
  readonly config: string
  readonly masterKey: string
}

/**
 * Opens the admin API of a gateway in this process. While a gateway at an unknown address uses the database, the
 * part that does no harm works on the database alone.
 */
export async function openLocal({
  config,
  masterKey,
  ...target
}: LocalGateway): Promise<OpenAdminClient> {
  const { path, onMissing } = target
  const name = path ?? defaultConfig
  try {
    return await openOfflineAdmin({ name, config, env: process.env, masterKey, onMissing })
  } catch (failure) {
    if (!(failure instanceof DatabaseInUse)) throw failure
    return openDatabase(target, failure)
  }
}

/** Opens the part of the admin API that needs no master key; `missing` is why the rest is not available. */
export function openDatabase(
  { path, onMissing }: LocalTarget,
  missing: CommandFailure,
): Promise<OpenAdminClient> {
  return openDatabaseAdmin({ config: path, onMissing, missing })
}
