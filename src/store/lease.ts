import { eq, sql } from 'drizzle-orm'
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

export interface Lease extends Holder {
  /** Unix milliseconds by the clock of the database. */
  readonly endsAt: number
}

/**
 * Takes or renews the lease for `duration`. Resolves to the lease of another process when that one
 * holds it, or to undefined.
 */
export async function takeLease(
  db: LibSQLDatabase,
  { holder, process }: Holder,
  duration: Millis,
): Promise<Lease | undefined> {
  const endsAt = sql<number>`${now} + ${duration}`
  const [, [lease]] = await db.batch([
    db
      .insert(gatewayLease)
      .values({ id: singleRowId, holder, process, endsAt })
      .onConflictDoUpdate({
        target: gatewayLease.id,
        set: { holder, process, endsAt },
        setWhere: sql`${gatewayLease.holder} = ${holder} or ${gatewayLease.endsAt} <= ${now}`,
      }),
    db.select().from(gatewayLease),
  ])
  return lease?.holder === holder ? undefined : lease
}

/** Records the holder of the database where a file lock decides who that is. */
export async function recordHolder(db: LibSQLDatabase, { holder, process }: Holder): Promise<void> {
  const row = { holder, process, endsAt: 0 }
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

/** Releases the lease if this process holds it. */
export async function releaseLease(db: LibSQLDatabase, { holder }: Holder): Promise<void> {
  await db.delete(gatewayLease).where(eq(gatewayLease.holder, holder))
}

const now = sql`cast(unixepoch('subsec') * 1000 as integer)`

const singleRowId = 1
