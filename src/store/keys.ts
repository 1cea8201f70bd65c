import { and, eq, exists, getTableColumns, isNull, type SQL, sql } from 'drizzle-orm'
import type { LibSQLDatabase } from 'drizzle-orm/libsql'
import type { GroupId, KeyId, NanoUsd } from '../core/ids.ts'
import { grantColumns, whereGrantFits } from './grant.ts'
import { capColumns, capOf, moneyOf } from './money.ts'
import { budgetGroups, virtualKeys } from './schema.ts'
import type { GrantRefusal, KeyChange, KeyRow, NewKey } from './store.ts'

export async function createKey(
  db: LibSQLDatabase,
  key: NewKey,
): Promise<KeyRow | 'unknown-group'> {
  const { budgetMax, ...others } = key
  const row: Record<string, unknown> = {
    ...newRow,
    ...others,
    ...capColumns(budgetMax),
  } satisfies Record<keyof typeof virtualKeys.$inferSelect, unknown>
  const columns = Object.entries(getTableColumns(virtualKeys))
  const values = columns.map(([name, column]) => sql.param(row[name], column))
  const insert = db
    .insert(virtualKeys)
    .select(sql`select ${sql.join(values, sql`, `)} where ${mayJoin(db, key.groupId)}`)
  const [, [written]] = await db.batch([insert, withId(db, key.id)])
  return written ? keyRow(written) : 'unknown-group'
}

/** What the database gives a key. */
const newRow = { seq: null, budgetSpentUsd: 0, budgetSpentNano: 0, deletedAt: null }

export async function updateKey(
  db: LibSQLDatabase,
  id: KeyId,
  change: KeyChange,
): Promise<KeyRow | 'unknown-key' | 'unknown-group'> {
  const { budgetMax, groupId = null, ...others } = change
  const [[updated], [row]] = await db.batch([
    db
      .update(virtualKeys)
      .set({
        // What is undefined is not set; something must be.
        id,
        ...others,
        ...('groupId' in change && { groupId }),
        ...(budgetMax !== undefined && capColumns(budgetMax)),
      })
      .where(and(isLive(id), mayJoin(db, groupId)))
      .returning(),
    withId(db, id),
  ])
  if (updated) return keyRow(updated)
  return row?.deletedAt === null ? 'unknown-group' : 'unknown-key'
}

export async function rotateKey(
  db: LibSQLDatabase,
  id: KeyId,
  digest: string,
): Promise<KeyRow | 'unknown-key'> {
  const [row] = await db.update(virtualKeys).set({ digest }).where(isLive(id)).returning()
  return row ? keyRow(row) : 'unknown-key'
}

export async function deleteKey(
  db: LibSQLDatabase,
  id: KeyId,
  at: number,
): Promise<KeyRow | 'unknown-key'> {
  const [row] = await db.update(virtualKeys).set({ deletedAt: at }).where(isLive(id)).returning()
  return row ? keyRow(row) : 'unknown-key'
}

export async function grantKey(
  db: LibSQLDatabase,
  id: KeyId,
  amount: NanoUsd,
): Promise<KeyRow | 'unknown-key' | GrantRefusal> {
  const [[granted], [row]] = await db.batch([
    db
      .update(virtualKeys)
      .set(grantColumns(virtualKeys, amount))
      .where(and(isLive(id), whereGrantFits(virtualKeys, amount)))
      .returning(),
    withId(db, id),
  ])
  if (granted) return keyRow(granted)
  if (row?.deletedAt !== null) return 'unknown-key'
  return row.budgetMaxUsd === null ? 'no-cap' : 'too-much'
}

function withId(db: LibSQLDatabase, id: KeyId) {
  return db.select().from(virtualKeys).where(eq(virtualKeys.id, id))
}

function isLive(id: KeyId): SQL | undefined {
  return and(eq(virtualKeys.id, id), isNull(virtualKeys.deletedAt))
}

/** True of no group, and of a group that exists and is not deleted. */
function mayJoin(db: LibSQLDatabase, id: GroupId | null): SQL {
  if (id === null) return sql`true`
  return exists(
    db
      .select({ one: sql`1` })
      .from(budgetGroups)
      .where(and(eq(budgetGroups.id, id), isNull(budgetGroups.deletedAt))),
  )
}

export function keyRow(row: typeof virtualKeys.$inferSelect): KeyRow {
  return {
    // Both ids went in as such.
    id: row.id as KeyId,
    digest: row.digest,
    name: row.name,
    groupId: row.groupId as GroupId | null,
    budgetMax: capOf(row.budgetMaxUsd, row.budgetMaxNano),
    budgetSpent: moneyOf(row.budgetSpentUsd, row.budgetSpentNano),
    rpmLimit: row.rpmLimit,
    tpmLimit: row.tpmLimit,
    expiresAt: row.expiresAt,
    disabled: row.disabled,
    createdAt: row.createdAt,
    deletedAt: row.deletedAt,
  }
}
