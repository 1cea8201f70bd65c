import type { Client } from '@libsql/client'
import { drizzle } from 'drizzle-orm/libsql/sqlite3'
import { type ClientDatabase, describeState, readHeldState } from '../../../src/store/database.ts'
import {
  databaseInUse,
  databaseShared,
  StoreFault,
  type StoreReport,
} from '../../../src/store/index.ts'
import { CallDeadline } from './call-deadline.ts'
import { identifyState, type OtherHolder, type TakenClaim } from './claim.ts'
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
import { isServerAddress, type ThreadSettings } from './messages.ts'
import { extractHost, RemoteDatabase } from './remote.ts'
import { requireDatabase } from './require-database.ts'
import { ServerClaim } from './server-claim.ts'
import { toStoreFault } from './store-fault.ts'

/** A database, in a file or on a server, with the gateway's claim on it. */
export interface ClaimedDatabase {
  readonly db: ClientDatabase
  /** Takes the claim and opens the database, or rejects with the reason. */
  open(): Promise<OpenedDatabase>
  /** Lists what ended processes have left of their journals, as `JournalSlot` does. */
  listLeft(places: readonly string[]): LeftFiles
  close(): Promise<void>
  /** Stops retries, and stops waiting for the server, from now on. */
  abandon(): void
}

export interface OpenedDatabase {
  /** Undefined for a command, and when a gateway has no place for its journal. */
  readonly journal: JournalPlace | undefined
  /** The id of a claim that gateways hold together, while this process holds it. */
  readonly claimId: string | undefined
}

export interface ClaimedDatabaseOptions {
  readonly settings: ThreadSettings
  /** The deadline of the current call. */
  readonly deadline: CallDeadline
  readonly report: StoreReport
}

export function createClaimedDatabase(options: ClaimedDatabaseOptions): ClaimedDatabase {
  return isServerAddress(options.settings.path) ? createForServer(options) : createForFile(options)
}

function createForFile({ settings, deadline, report }: ClaimedDatabaseOptions): ClaimedDatabase {
  const path = toFilePath(settings.path)
  const database = new LocalDatabase({ path, deadline, report, onMissing: settings.onMissing })
  const db = toDrizzle(database)
  const claim =
    settings.claim &&
    new FileClaim({ path, db, holder: settings.claim, state: identifyState(settings.claim) })
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
      const claimId = checkClaim(await claim?.take(), { name: path, settings, report })
      await database.open()
      await claim?.recordHolder()
      return { claimId, journal: slot?.take() }
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
      state: identifyState(holder),
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
      const name = `at ${extractHost(url)}`
      const claimId = checkClaim(await claim?.take(), { name, settings, report })
      await database.open()
      return { claimId, journal: journal && tryTake(journal, report) }
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

/**
 * Returns the id of a claim that was taken. Reports another holder, or throws a `StoreFault` unless conflicts are
 * only reported.
 */
function checkClaim(
  claim: TakenClaim | OtherHolder | undefined,
  { name, settings, report }: ClaimContext,
): string | undefined {
  if (!claim) return undefined
  if (claim.kind === 'taken') return claim.id
  const { process, sharing } = claim
  if (settings.claim?.onConflict === 'report') {
    report(othersMessage, { process })
    return undefined
  }
  const reason = `another gateway uses the database ${name}: ${process}`
  const areBothShared = sharing !== null && settings.claim?.sharing !== undefined
  throw new StoreFault(
    `${reason}${describeSharing(sharing, settings)}`,
    areBothShared ? databaseShared : databaseInUse,
  )
}

/** Says what each gateway shares, unless neither of the two shares anything. */
function describeSharing(others: string | null, { claim }: ThreadSettings): string {
  const own = claim && identifyState(claim)
  if (others === null) return own ? ', which does not share its state' : ''
  const held = readHeldState(others)
  const theirs = `, which shares its state: ${held ? describeState(held) : others}`
  return own ? `${theirs}; the state of this one is ${describeState(own.name)}` : theirs
}

const othersMessage = 'another gateway uses this database: each of them grants the full budgets'

/** Drizzle calls only `execute` and `batch` of its client. */
function toDrizzle(database: LocalDatabase | RemoteDatabase): ClientDatabase {
  return drizzle({ client: database as unknown as Client })
}
