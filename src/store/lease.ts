import { and, eq, isNull, sql } from 'drizzle-orm'
import type { LibSQLDatabase } from 'drizzle-orm/libsql'
import type { Millis } from '../core/ids.ts'
import { gatewayLease } from './schema.ts'

/** The process that holds a database. */
export interface Holder {
  /** Random, the same for the life of a process. */
  readonly holder: string
  /** A readable description of the process. */
  readonly process: string
}

/** A process that wants to hold a database. */
export interface Claimant extends Holder {
  /** The state that it shares, as `writeHeldState` writes it. Processes with equal texts hold a database together. */
  readonly sharing?: string | undefined
}

export interface Lease extends Holder {
  /** Null when its holder shares no state. */
  readonly sharing: string | null
  /** Unix milliseconds by the clock of the database. */
  readonly endsAt: number
}

/**
 * Takes or renews the lease for `duration`. Resolves to undefined, or to the lease of a process that does
 * not share the state of this one, while that one holds it.
 */
export async function takeLease(
  db: LibSQLDatabase,
  { holder, process, sharing }: Claimant,
  duration: Millis,
): Promise<Lease | undefined> {
  const endsAt = sql<number>`${now} + ${duration}`
  const row = { holder, process, sharing: sharing ?? null, endsAt }
  // Null is equal to nothing.
  const isOwn = sql`${gatewayLease.holder} = ${holder} or ${gatewayLease.sharing} = ${row.sharing}`
  const [, [lease]] = await db.batch([
    db
      .insert(gatewayLease)
      .values({ id: singleRowId, ...row })
      .onConflictDoUpdate({
        target: gatewayLease.id,
        set: row,
        setWhere: sql`${isOwn} or ${gatewayLease.endsAt} <= ${now}`,
      }),
    db.select().from(gatewayLease),
  ])
  return lease?.holder === holder ? undefined : lease
}

/** Records the holder of the database where a file lock decides who that is. */
export async function recordHolder(db: LibSQLDatabase, { holder, process }: Holder): Promise<void> {
  const row = { holder, process, sharing: null, endsAt: 0 }
  await db
    .insert(gatewayLease)
    .values({ id: singleRowId, ...row })
    .onConflictDoUpdate({ target: gatewayLease.id, set: row })
}

/** Returns a readable description of the last holder; undefined when there was none. */
export async function readLastHolder(db: LibSQLDatabase): Promise<string | undefined> {
  const [lease] = await db.select().from(gatewayLease)
  return lease?.process
}

/** Releases the lease if this process holds it alone. One that others may hold too expires. */
export async function releaseLease(db: LibSQLDatabase, { holder }: Holder): Promise<void> {
  await db
    .delete(gatewayLease)
    .where(and(eq(gatewayLease.holder, holder), isNull(gatewayLease.sharing)))
}

const now = sql`cast(unixepoch('subsec') * 1000 as integer)`

const singleRowId = 1
