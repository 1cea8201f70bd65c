import { and, eq, isNull, notExists, type SQL, sql } from 'drizzle-orm'
import type { LibSQLDatabase } from 'drizzle-orm/libsql'
import type { BudgetGroup } from '../core/accounts.ts'
import type { GroupId, NanoUsd } from '../core/ids.ts'
import type { GrantError, GroupChange, GroupRow } from './account-rows.ts'
import { grantColumns, whereGrantFits } from './grant.ts'
import { capColumns, joinAmount, joinCap } from './money.ts'
import { budgetGroups, virtualKeys } from './schema.ts'
import { newTermColumns, periodColumns, toTerm, turnIfDue } from './term.ts'

export async function createGroup(db: LibSQLDatabase, group: BudgetGroup): Promise<GroupRow> {
  const { budgetMax, budgetPeriod: period, ...others } = group
  const term = newTermColumns({ period, at: group.createdAt })
  const rows = await db
    .insert(budgetGroups)
    .values({ ...others, ...capColumns(budgetMax), ...term })
    .returning()
  return toGroupRow(rows[0] as (typeof rows)[number]) // An insert that does not fail has one row.
}

export async function updateGroup(
  db: LibSQLDatabase,
  id: GroupId,
  { budgetMax, budgetPeriod, ...others }: GroupChange,
): Promise<GroupRow | 'unknown-group'> {
  const [, [row]] = await db.batch([
    turnIfDue(db, { table: budgetGroups, id, at: budgetPeriod?.at }),
    db
      .update(budgetGroups)
      .set({
        // Drizzle skips undefined columns. SQL requires at least one.
        id,
        ...others,
        ...(budgetMax !== undefined && capColumns(budgetMax)),
        ...(budgetPeriod !== undefined && periodColumns(budgetGroups, budgetPeriod)),
      })
      .where(whereLive(id))
      .returning(),
  ])
  return row ? toGroupRow(row) : 'unknown-group'
}

export async function deleteGroup(
  db: LibSQLDatabase,
  id: GroupId,
  at: number,
): Promise<GroupRow | 'unknown-group' | 'has-members'> {
  const members = db
    .select({ one: sql`1` })
    .from(virtualKeys)
    .where(and(eq(virtualKeys.groupId, id), isNull(virtualKeys.deletedAt)))
  const [[deleted], [row]] = await db.batch([
    db
      .update(budgetGroups)
      .set({ deletedAt: at })
      .where(and(whereLive(id), notExists(members)))
      .returning(),
    selectById(db, id),
  ])
  if (deleted) return toGroupRow(deleted)
  return row?.deletedAt === null ? 'has-members' : 'unknown-group'
}

export async function grantGroup(
  db: LibSQLDatabase,
  id: GroupId,
  amount: NanoUsd,
): Promise<GroupRow | 'unknown-group' | GrantError> {
  const [[granted], [row]] = await db.batch([
    db
      .update(budgetGroups)
      .set(grantColumns(budgetGroups, amount))
      .where(and(whereLive(id), whereGrantFits(budgetGroups, amount)))
      .returning(),
    selectById(db, id),
  ])
  if (granted) return toGroupRow(granted)
  if (row?.deletedAt !== null) return 'unknown-group'
  return row.budgetMaxUsd === null ? 'no-cap' : 'too-much'
}

function selectById(db: LibSQLDatabase, id: GroupId) {
  return db.select().from(budgetGroups).where(eq(budgetGroups.id, id))
}

function whereLive(id: GroupId): SQL | undefined {
  return and(eq(budgetGroups.id, id), isNull(budgetGroups.deletedAt))
}

export function toGroupRow(row: typeof budgetGroups.$inferSelect): GroupRow {
  return {
    // Only such ids are inserted.
    id: row.id as GroupId,
    name: row.name,
    models: row.models,
    budgetMax: joinCap(row.budgetMaxUsd, row.budgetMaxNano),
    rpmLimit: row.rpmLimit,
    tpmLimit: row.tpmLimit,
    maxParallel: row.maxParallel,
    priority: row.priority,
    createdAt: row.createdAt,
    deletedAt: row.deletedAt,
    budgetPeriod: row.budgetPeriod,
    budgetSpent: joinAmount(row.budgetSpentUsd, row.budgetSpentNano),
    spentTotal: joinAmount(row.spentTotalUsd, row.spentTotalNano),
    term: toTerm(row),
  }
}
