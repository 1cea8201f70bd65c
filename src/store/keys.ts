import { and, eq, exists, getTableColumns, isNull, type SQL, sql } from 'drizzle-orm'
import type { LibSQLDatabase } from 'drizzle-orm/libsql'
import type { GroupId, KeyId, NanoUsd } from '../core/ids.ts'
import type { GrantError, KeyChange, KeyRow, NewKey, Rotation } from './account-rows.ts'
import { grantColumns, whereGrantFits } from './grant.ts'
import { capColumns, joinAmount, joinCap } from './money.ts'
import { budgetGroups, virtualKeys } from './schema.ts'
import { newTermColumns, periodColumns, toTerm, turnIfDue } from './term.ts'

export async function createKey(
  db: LibSQLDatabase,
  key: NewKey,
): Promise<KeyRow | 'unknown-group'> {
  const { budgetMax, budgetPeriod: period, ...others } = key
  const row: Record<string, unknown> = {
    ...newRowDefaults,
    ...others,
    ...capColumns(budgetMax),
    ...newTermColumns({ period, at: key.createdAt }),
  } satisfies Record<keyof typeof virtualKeys.$inferSelect, unknown>
  const columns = Object.entries(getTableColumns(virtualKeys))
  const values = columns.map(([name, column]) => sql.param(row[name], column))
  const insert = db
    .insert(virtualKeys)
    .select(sql`select ${sql.join(values, sql`, `)} where ${whereJoinable(db, key.groupId)}`)
  const [, [written]] = await db.batch([insert, selectById(db, key.id)])
  return written ? toKeyRow(written) : 'unknown-group'
}

/** The columns of a new key that the caller does not set. */
const newRowDefaults = {
  seq: null,
  formerDigest: null,
  graceEndsAt: null,
  budgetSince: 0,
  budgetSpentUsd: 0,
  budgetSpentNano: 0,
  spentTotalUsd: 0,
  spentTotalNano: 0,
  deletedAt: null,
}

export async function updateKey(
  db: LibSQLDatabase,
  id: KeyId,
  change: KeyChange,
): Promise<KeyRow | 'unknown-key' | 'unknown-group'> {
  const { budgetMax, budgetPeriod, groupId = null, ...others } = change
  const [, [updated], [row]] = await db.batch([
    turnIfDue(db, { table: virtualKeys, id, at: budgetPeriod?.at }),
    db
      .update(virtualKeys)
      .set({
        // Drizzle skips undefined columns. SQL requires at least one.
        id,
        ...others,
        ...('groupId' in change && { groupId }),
        ...(budgetMax !== undefined && capColumns(budgetMax)),
        ...(budgetPeriod !== undefined && periodColumns(virtualKeys, budgetPeriod)),
      })
      .where(and(whereLive(id), whereJoinable(db, groupId)))
      .returning(),
    selectById(db, id),
  ])
  if (updated) return toKeyRow(updated)
  return row?.deletedAt === null ? 'unknown-group' : 'unknown-key'
}

export async function rotateKey(
  db: LibSQLDatabase,
  id: KeyId,
  { digest, graceEndsAt }: Rotation,
): Promise<KeyRow | 'unknown-key'> {
  const formerDigest = graceEndsAt === null ? null : sql`${virtualKeys.digest}`
  const [row] = await db
    .update(virtualKeys)
    .set({ digest, formerDigest, graceEndsAt })
    .where(whereLive(id))
    .returning()
  return row ? toKeyRow(row) : 'unknown-key'
}

/** Revokes a key: its row becomes a tombstone. */
export async function deleteKey(
  db: LibSQLDatabase,
  id: KeyId,
  at: number,
): Promise<KeyRow | 'unknown-key'> {
  const [row] = await db.update(virtualKeys).set({ deletedAt: at }).where(whereLive(id)).returning()
  return row ? toKeyRow(row) : 'unknown-key'
}

export async function grantKey(
  db: LibSQLDatabase,
  id: KeyId,
  amount: NanoUsd,
): Promise<KeyRow | 'unknown-key' | GrantError> {
  const [[granted], [row]] = await db.batch([
    db
      .update(virtualKeys)
      .set(grantColumns(virtualKeys, amount))
      .where(and(whereLive(id), whereGrantFits(virtualKeys, amount)))
      .returning(),
    selectById(db, id),
  ])
  if (granted) return toKeyRow(granted)
  if (row?.deletedAt !== null) return 'unknown-key'
  return row.budgetMaxUsd === null ? 'no-cap' : 'too-much'
}

function selectById(db: LibSQLDatabase, id: KeyId) {
  return db.select().from(virtualKeys).where(eq(virtualKeys.id, id))
}

function whereLive(id: KeyId): SQL | undefined {
  return and(eq(virtualKeys.id, id), isNull(virtualKeys.deletedAt))
}

/** True without a group, and for a group that exists and is not deleted. */
function whereJoinable(db: LibSQLDatabase, id: GroupId | null): SQL {
  if (id === null) return sql`true`
  return exists(
    db
      .select({ one: sql`1` })
      .from(budgetGroups)
      .where(and(eq(budgetGroups.id, id), isNull(budgetGroups.deletedAt))),
  )
}

export function toKeyRow(row: typeof virtualKeys.$inferSelect): KeyRow {
  return {
    // Only such ids are inserted.
    id: row.id as KeyId,
    digest: row.digest,
    formerDigest: row.formerDigest,
    graceEndsAt: row.graceEndsAt,
    name: row.name,
    groupId: row.groupId as GroupId | null,
    models: row.models,
    budgetMax: joinCap(row.budgetMaxUsd, row.budgetMaxNano),
    budgetPeriod: row.budgetPeriod,
    budgetSpent: joinAmount(row.budgetSpentUsd, row.budgetSpentNano),
    spentTotal: joinAmount(row.spentTotalUsd, row.spentTotalNano),
    term: toTerm(row),
    rpmLimit: row.rpmLimit,
    tpmLimit: row.tpmLimit,
    maxParallel: row.maxParallel,
    priority: row.priority,
    expiresAt: row.expiresAt,
    disabled: row.disabled,
    createdAt: row.createdAt,
    deletedAt: row.deletedAt,
  }
}
