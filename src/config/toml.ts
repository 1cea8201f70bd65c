import { parse, TomlDate, TomlError } from 'smol-toml'
import type { Problem } from './problem.ts'
import { explainTomlError } from './toml-error.ts'

/** A table of the file. */
export type Table = Readonly<Record<string, unknown>>

type Parsed =
  | { readonly ok: true; readonly table: Table }
  | { readonly ok: false; readonly problem: Problem }

/** Parses a text, or returns the problem with its line and column. */
export function parseToml(text: string): Parsed {
  try {
    // Integers above 2^53 become bigints, which the schema rejects with the range of the setting.
    const table = parse(text, { integersAsBigInt: 'asNeeded', unsafeKeyBehaviour: 'throw' })
    eraseDates(table)
    return { ok: true, table }
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    return { ok: false, problem: explainTomlError(text, error) }
  }
}

/** The settings that are dates. */
const dates: ReadonlySet<string> = new Set(['from', 'until'])

/**
 * Replaces dates by null, which the schema rejects everywhere, because the object that the parser creates for
 * one would pass as an empty table. The settings that are dates become texts.
 */
function eraseDates(table: object): void {
  const pending = [table]
  for (const branch of pending) {
    for (const [key, value] of Object.entries(branch)) {
      if (value instanceof TomlDate) {
        const isDate = dates.has(key) && value.isDate()
        Reflect.set(branch, key, isDate ? value.toISOString() : null)
      } else if (typeof value === 'object' && value !== null) pending.push(value)
    }
  }
}

/** True for a table of the file, an inline one included. */
export function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
