import { createDatabaseRoutes } from '../../../src/access/index.ts'
import { GatewayError } from '../../../src/core/errors.ts'
import type { RequestId } from '../../../src/core/ids.ts'
import type { Log } from '../../../src/core/ports.ts'
import type { Reply } from '../../../src/core/reply.ts'
import { createRouter } from '../../../src/http/index.ts'
import { CommandFailure } from '../failures/command-failure.ts'
import { toDatabaseFailure } from '../failures/database-failure.ts'
import { openNodeStore } from '../ports/store.ts'
import { systemClock } from '../process/system.ts'
import type { OpenAdminClient } from './api.ts'
import { noteDatabase } from './database-note.ts'
import { readStoreSettings } from './store.ts'

export interface DatabaseAdminOptions {
  /** The path of the configuration. */
  readonly config: string | undefined
  /** As in `StoreSettings`. */
  readonly onMissing: 'create' | 'reject'
  /** Why the whole admin API is not available: the failure of all other requests. */
  readonly missing: CommandFailure
}

/**
 * Opens the part of the admin API that needs no master key: showing keys and groups, and creating
 * keys. It works on the database of a configuration, also while a gateway uses it.
 */
export async function openDatabaseAdmin({
  config,
  onMissing,
  missing,
}: DatabaseAdminOptions): Promise<OpenAdminClient> {
  const settings = { ...(await readStoreSettings(config)), onMissing }
  const { text, isNew } = noteDatabase(settings.path)
  const store = await openNodeStore(settings).catch((error: unknown) => {
    throw toDatabaseFailure(error)
  })
  const find = createRouter(await createDatabaseRoutes({ store, clock: systemClock, log: noLog }))
  return {
    async send(method, path, body) {
      const request = new Request(`http://gateway${path}`, {
        method,
        ...(body && { body: JSON.stringify(body) }),
      })
      // The audit row of the command line names no request.
      const context = { id: 'command-line' as RequestId, signal: request.signal }
      try {
        const route = await find(path)
        return readReply(await route.serve(request, context))
      } catch (error) {
        throw error instanceof GatewayError ? toFailure(error, missing) : error
      }
    },
    // No gateway runs on a database that did not exist.
    needsReload: !isNew,
    note: text,
    close: () => store.close(),
  }
}

/** Every answer of these routes is JSON. */
function readReply({ body }: Reply): unknown {
  return JSON.parse(new TextDecoder().decode(body as Uint8Array))
}

function toFailure({ code, message }: GatewayError, missing: CommandFailure): CommandFailure {
  if (code === 'LM-1003') return missing
  return new CommandFailure(code === 'LM-1001' ? 2 : 1, message)
}

/** The log of a gateway has nothing to say here: a failure ends the command. */
const noLog: Log = { enabled: () => false, write() {} }
