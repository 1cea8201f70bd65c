import { eq, sql } from 'drizzle-orm'
import type { LibSQLDatabase } from 'drizzle-orm/libsql'
import type { Millis } from '../core/ids.ts'
import { gatewayLease } from './schema.ts'

/** Who a database is held by. */
export interface Holder {
  /** Random, the same for the life of a process. */
  readonly holder: string
  /** The process, for people. */
  readonly process: string
}

export interface Lease extends Holder {
  /** Unix milliseconds by the clock of the database. */
  readonly endsAt: number
}

/**
 * Takes the lease for so long, or holds it longer, unless another process has it: then resolves to
 * that one's.
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

/** Notes who holds the database, where something else decides that. */
export async function recordHolder(db: LibSQLDatabase, { holder, process }: Holder): Promise<void> {
  const row = { holder, process, endsAt: 0 }
  await db
    .insert(gatewayLease)
    .values({ id: singleRowId, ...row })
    .onConflictDoUpdate({ target: gatewayLease.id, set: row })
}

/** The process that held the database last, for people; undefined when none ever did. */
export async function readLastHolder(db: LibSQLDatabase): Promise<string | undefined> {
  const [lease] = await db.select().from(gatewayLease)
  return lease?.process
}

/** Gives the lease back, if it is held. */
export async function releaseLease(db: LibSQLDatabase, { holder }: Holder): Promise<void> {
  await db.delete(gatewayLease).where(eq(gatewayLease.holder, holder))
}

const now = sql`cast(unixepoch('subsec') * 1000 as integer)`

const singleRowId = 1
