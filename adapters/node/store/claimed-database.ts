import type { Client } from '@libsql/client'
import { drizzle } from 'drizzle-orm/libsql/sqlite3'
import type { ClientDatabase } from '../../../src/store/database.ts'
import { databaseInUse, StoreFault, type StoreReport } from '../../../src/store/index.ts'
import { CallDeadline } from './call-deadline.ts'
import type { OtherHolder } from './claim.ts'
import { FileClaim } from './file-claim.ts'
import { toFilePath } from './file-path.ts'
import {
  folderBeside,
  folderIn,
  type JournalPlace,
  JournalSlot,
  type LeftFiles,
  noFiles,
} from './journal-place.ts'
import { LocalDatabase } from './local.ts'
import { isRemote, type ThreadSettings } from './messages.ts'
import { extractHost, RemoteDatabase } from './remote.ts'
import { requireDatabase } from './require-database.ts'
import { ServerClaim } from './server-claim.ts'
import { toStoreFault } from './store-fault.ts'

/** A database, in a file or on a server, with the gateway's claim on it. */
export interface ClaimedDatabase {
  readonly db: ClientDatabase
  /**
   * Takes the claim and opens the database, or rejects with the reason. Resolves to the place of the
   * journal; undefined for a command, and when a gateway has no place for it.
   */
  open(): Promise<JournalPlace | undefined>
  /** Lists what ended processes have left of their journals, as `JournalSlot` does. */
  listLeft(places: readonly string[]): LeftFiles
  close(): Promise<void>
  /** Stops retries, and stops waiting for the server, from now on. */
  abandon(): void
}

export interface ClaimedDatabaseOptions {
  readonly settings: ThreadSettings
  /** The deadline of the current call. */
  readonly deadline: CallDeadline
  readonly report: StoreReport
}

export function createClaimedDatabase(options: ClaimedDatabaseOptions): ClaimedDatabase {
  return isRemote(options.settings.path) ? createForServer(options) : createForFile(options)
}

function createForFile({ settings, deadline, report }: ClaimedDatabaseOptions): ClaimedDatabase {
  const path = toFilePath(settings.path)
  const database = new LocalDatabase({ path, deadline, report, onMissing: settings.onMissing })
  const db = toDrizzle(database)
  const claim = settings.claim && new FileClaim({ path, db, holder: settings.claim })
  const slot =
    settings.claim &&
    new JournalSlot({
      findFolder: () => folderBeside(path),
      hasOthers: settings.claim.sharing !== undefined,
    })
  return {
    db,
    async open() {
      // Here for the claim, which creates a file of its own.
      if (claim && settings.onMissing === 'reject') requireDatabase(path)
      // Before anything else: opening may migrate the database to this version.
      checkClaim(await claim?.take(), { name: path, settings, report })
      await database.open()
      await claim?.recordHolder()
      return slot?.take()
    },
    listLeft: (places) => slot?.listLeft(places) ?? noFiles,
    async close() {
      database.close()
      slot?.release()
      await claim?.release()
    },
    abandon: () => deadline.abandon(),
  }
}

function createForServer({ settings, deadline, report }: ClaimedDatabaseOptions): ClaimedDatabase {
  const { path: url, token, journalFolder: folder, lease: duration, claim: holder } = settings
  const database = new RemoteDatabase({ url, token, deadline })
  // The lease is renewed while calls run, so it has its own client and its own deadline.
  const leaseDeadline = new CallDeadline()
  leaseDeadline.begin(Number.POSITIVE_INFINITY)
  const leases = new RemoteDatabase({ url, token, deadline: leaseDeadline })
  const claim =
    holder &&
    new ServerClaim({
      db: toDrizzle(leases),
      holder,
      duration,
      isRequired: holder.onConflict === 'reject',
      waiting: (process) =>
        report('waiting for the database lease of another gateway to expire', { process }),
      lost: (process) => report(othersMessage, { process }),
    })
  const journal =
    holder && folder !== undefined
      ? {
          folder,
          slot: new JournalSlot({ findFolder: () => folderIn(folder, url), hasOthers: true }),
        }
      : undefined
  return {
    db: toDrizzle(database),
    async open() {
      checkClaim(await claim?.take(), { name: `at ${extractHost(url)}`, settings, report })
      await database.open()
      return journal && tryTake(journal, report)
    },
    listLeft: (places) => journal?.slot.listLeft(places) ?? noFiles,
    async close() {
      await database.close()
      journal?.slot.release()
      await claim?.release()
      await leases.close()
    },
    abandon() {
      deadline.abandon()
      leaseDeadline.abandon()
    },
  }
}

/** Without a place, the gateway serves all the same: a machine may have no disk. */
function tryTake(
  { slot, folder }: { readonly slot: JournalSlot; readonly folder: string },
  report: StoreReport,
): JournalPlace | undefined {
  try {
    return slot.take()
  } catch (error) {
    report(noJournalMessage, { folder, code: toStoreFault(error).code })
    return undefined
  }
}

const noJournalMessage =
  'there is no journal of unsaved usage: a process that is killed loses up to usage_flush_ms of it'

interface ClaimContext {
  /** The description of the database. */
  readonly name: string
  readonly settings: ThreadSettings
  readonly report: StoreReport
}

/** Reports another holder of the claim, or throws a `StoreFault` unless conflicts are only reported. */
function checkClaim(
  other: OtherHolder | undefined,
  { name, settings, report }: ClaimContext,
): void {
  if (!other) return
  const { process, sharing } = other
  if (settings.claim?.onConflict === 'report') return report(othersMessage, { process })
  const reason = `another gateway uses the database ${name}: ${process}`
  throw new StoreFault(`${reason}${describeSharing(sharing, settings)}`, databaseInUse)
}

/** Says what the other gateway shares, unless neither of the two shares anything. */
function describeSharing(others: string | null, { claim }: ThreadSettings): string {
  if (others !== null) return `, which shares its state: ${others}`
  return claim?.sharing === undefined ? '' : ', which does not share its state'
}

const othersMessage = 'another gateway uses this database: each of them grants the full budgets'

/** Drizzle calls only `execute` and `batch` of its client. */
function toDrizzle(database: LocalDatabase | RemoteDatabase): ClientDatabase {
  return drizzle({ client: database as unknown as Client })
}
