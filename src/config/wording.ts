import type * as z from 'zod'
import { nearestName } from '../core/nearest-name.ts'
import { findPeerSetting, findPeerStrategy, type UnknownKey } from './peer-names.ts'
import { type Finding, type Path, quoteName, withNote } from './problem.ts'
import { getTopLevelForm, listDottedNames, listNames } from './schema-tree.ts'
import { isTable } from './toml.ts'

/** Describes what a value must be. The rules in `rules.ts` have messages of their own. */
export function describeIssue(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'invalid_value') {
    const choices = formatChoices(issue.values)
    return issue.input === undefined ? `is required: ${choices}` : `must be ${choices}`
  }
  if (issue.code !== 'invalid_type') return undefined
  if (issue.input === undefined) return 'is required'
  const tables = (issue.path ?? []).filter((part) => typeof part === 'string').join('.')
  switch (issue.expected) {
    case 'boolean':
      return 'must be true or false'
    case 'array':
      return isTable(issue.input)
        ? `must be an array of tables: write [[${tables}]]`
        : 'must be an array'
    case 'object':
      return Array.isArray(issue.input)
        ? `must be a single table: write [${tables}]`
        : 'must be a table'
    default:
      return `must be a ${issue.expected}`
  }
}

/** Converts the errors of the schema to findings, one for each setting at fault. */
export function toFindings(error: z.ZodError | undefined): readonly Finding[] {
  return describeIssues(error?.issues ?? [], [])
}

function describeIssues(issues: readonly z.core.$ZodIssue[], base: Path): readonly Finding[] {
  return issues.flatMap((issue) => {
    const path = [...base, ...issue.path.filter((part) => typeof part !== 'symbol')]
    // A table was given where a text may be one too, so the rules of the table are meant.
    if (issue.code === 'invalid_union' && isTable(issue.input)) {
      const ofTable = issue.errors.at(-1) ?? []
      if (!ofTable.some(isOtherType)) return describeIssues(ofTable, path)
    }
    // Likewise an array of tables, for mistakes inside it.
    if (issue.code === 'invalid_union' && Array.isArray(issue.input)) {
      const ofArray = issue.errors.at(-1) ?? []
      if (ofArray.some(isInside)) return describeIssues(ofArray, path)
    }
    if (issue.code === 'unrecognized_keys') {
      const given = Object.keys(Object(issue.input))
      return issue.keys.map((key) => unknownKey({ table: path, key, given }))
    }
    const finding = { path, message: issue.message }
    if (issue.code !== 'invalid_value' || typeof issue.input !== 'string') return finding
    const choices = issue.values.map(String)
    const peer = choices.includes('weighted') ? findPeerStrategy(issue.input) : undefined
    return { ...finding, suggestion: peer ?? nearestName(issue.input, choices) }
  })
}

/** True for a mistake in an item of an array, and for too many items. */
function isInside({ code, path }: z.core.$ZodIssue): boolean {
  return path.length > 0 || code === 'too_big'
}

/** True where no table is allowed at all. */
function isOtherType({ code, path }: z.core.$ZodIssue): boolean {
  return code === 'invalid_type' && path.length === 0
}

function formatChoices(values: readonly unknown[]): string {
  const names = values.map((value) => quoteName(String(value)))
  return new Intl.ListFormat('en', { type: 'disjunction' }).format(names)
}

function unknownKey(unknown: UnknownKey): Finding {
  const { table, key } = unknown
  const path = [...table, key]
  const form = table.length === 0 ? undefined : getTopLevelForm(key)
  switch (form) {
    case 'key':
      return { path, message: `${key} is a top-level key: put it before the first [table]` }
    case 'table':
      return { path, message: `${key} is a top-level table: write [${key}]` }
    case 'array of tables':
      return { path, message: `${key} is a top-level array of tables: write [[${key}]]` }
    case undefined: {
      const peer = findPeerSetting(unknown)
      const suggestion =
        peer?.suggestion ?? nearestName(key, listNames(table)) ?? findInOtherTable(key)
      return { path, message: withNote('unknown setting', peer?.note), suggestion }
    }
    default:
      return form satisfies never
  }
}

/** Finds a setting of this name in another table. */
function findInOtherTable(key: string): string | undefined {
  return listDottedNames().find((name) => name.endsWith(`.${key}`))
}
