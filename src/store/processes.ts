import { eq } from 'drizzle-orm'
import type { LibSQLDatabase } from 'drizzle-orm/libsql'
import { joinAmount } from './money.ts'
import { processSpend } from './schema.ts'
import type { ProcessShare } from './spend-rows.ts'

/** Lists the processes with a part in the saved spend. */
export async function listProcesses(db: LibSQLDatabase): Promise<readonly string[]> {
  const rows = await db.selectDistinct({ process: processSpend.process }).from(processSpend)
  return rows.map(({ process }) => process)
}

/** Reads the part of one process in the saved spend of every key and group. */
export async function readShares(
  db: LibSQLDatabase,
  process: string,
): Promise<readonly ProcessShare[]> {
  const rows = await db.select().from(processSpend).where(eq(processSpend.process, process))
  return rows.map((row) => ({
    subject: row.subject,
    since: row.since,
    amount: joinAmount(row.termUsd, row.termNano),
    total: joinAmount(row.totalUsd, row.totalNano),
  }))
}

/** Forgets which part of the saved spend was that of a process. The spend remains. */
export async function forgetProcess(db: LibSQLDatabase, process: string): Promise<void> {
  await db.delete(processSpend).where(eq(processSpend.process, process))
}
