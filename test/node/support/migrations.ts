import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { folder } from './store.ts'

export interface JournalEntry {
  readonly idx: number
  readonly when: number
  readonly tag: string
}

const shipped = 'src/store/migrations'

/** The shipped migrations in their order. */
export function listMigrations(): readonly JournalEntry[] {
  return JSON.parse(readFileSync(join(shipped, 'meta/_journal.json'), 'utf8')).entries
}

/** Copies the shipped migrations, with another list of those that are applied. Returns the folder. */
export function migrationsWith(
  change: (entries: readonly JournalEntry[]) => readonly object[],
): string {
  const migrations = join(folder(), 'migrations')
  cpSync(shipped, migrations, { recursive: true })
  const journal = join(migrations, 'meta/_journal.json')
  const { entries, ...rest } = JSON.parse(readFileSync(journal, 'utf8'))
  writeFileSync(journal, JSON.stringify({ ...rest, entries: change(entries) }))
  return migrations
}
