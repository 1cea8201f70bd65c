import { and, eq } from 'drizzle-orm'
import type { LibSQLDatabase } from 'drizzle-orm/libsql'
import { sealedValues, webhookSettings } from './schema.ts'
import type { SealedPurpose, SealedRow, WebhookRow } from './store.ts'

export async function readSealed(db: LibSQLDatabase, purpose: SealedPurpose): Promise<SealedRow[]> {
  const rows = await db
    .select()
    .from(sealedValues)
    .where(eq(sealedValues.purpose, purpose))
    .orderBy(sealedValues.name)
  return rows.map((row) => ({ ...row, purpose }))
}

export async function putSealed(db: LibSQLDatabase, row: SealedRow): Promise<void> {
  await db
    .insert(sealedValues)
    .values(row)
    .onConflictDoUpdate({
      target: [sealedValues.purpose, sealedValues.name],
      set: { sealed: row.sealed, updatedAt: row.updatedAt },
    })
}

export async function replaceSealed(db: LibSQLDatabase, rows: readonly SealedRow[]): Promise<void> {
  const [first, ...others] = rows.map(({ purpose, name, sealed }) =>
    db
      .update(sealedValues)
      .set({ sealed })
      .where(and(eq(sealedValues.purpose, purpose), eq(sealedValues.name, name))),
  )
  if (first) await db.batch([first, ...others])
}

export async function deleteSealed(
  db: LibSQLDatabase,
  purpose: SealedPurpose,
  name: string,
): Promise<boolean> {
  const { rowsAffected } = await db
    .delete(sealedValues)
    .where(and(eq(sealedValues.purpose, purpose), eq(sealedValues.name, name)))
  return rowsAffected > 0
}

export async function readWebhookSettings(db: LibSQLDatabase): Promise<WebhookRow | undefined> {
  const [row] = await db.select().from(webhookSettings)
  return row && { enabled: row.enabled, settings: row.settings, updatedAt: row.updatedAt }
}

export async function putWebhookSettings(db: LibSQLDatabase, row: WebhookRow): Promise<void> {
  await db
    .insert(webhookSettings)
    .values({ id: singleRowId, ...row })
    .onConflictDoUpdate({ target: webhookSettings.id, set: row })
}

const singleRowId = 1
