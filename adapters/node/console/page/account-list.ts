import { type KeyState, type KeyStateName, keyStates } from './key-states.ts'
import type { Key, Subject } from './shapes.ts'

/** A key or group as the lists show it. */
export interface Listed<Account extends Subject> {
  readonly account: Account
  /** When it was last used, in unix seconds; undefined when no use is known. */
  readonly lastUsed: number | undefined
}

/** A key as its list shows it. */
export interface ListedKey extends Listed<Key> {
  readonly state: KeyState
  readonly groupName: string | undefined
}

/** What a list is sorted by. */
export const sortings = ['name', 'spend', 'used', 'created'] as const

export type SortName = (typeof sortings)[number]

/** A sorting and its direction; names begin at A, amounts and times with the highest. */
export interface Sorting {
  readonly by: SortName
  readonly isReversed: boolean
}

/** Reads a sorting from an address; the newest first when it has none. */
export function readSorting(text: string | null): Sorting {
  const by = sortings.find((name) => name === text?.replace('-', ''))
  return by
    ? { by, isReversed: text?.startsWith('-') === true }
    : { by: 'created', isReversed: false }
}

/** Returns the sorting after a click on a column: a second one turns it around. */
export function toggleSorting({ by, isReversed }: Sorting, column: SortName): string {
  return by === column && !isReversed ? `-${column}` : column
}

/** Sorts without a change of the given list. */
export function sortAccounts<Row extends Listed<Subject>>(
  rows: readonly Row[],
  { by, isReversed }: Sorting,
): Row[] {
  const sorted = rows.toSorted((one, other) => compare[by](one, other))
  return isReversed ? sorted.reverse() : sorted
}

type Compare = (one: Listed<Subject>, other: Listed<Subject>) => number

const compareNames: Compare = ({ account: one }, { account: other }) =>
  one.name.localeCompare(other.name, 'en', { numeric: true, sensitivity: 'base' })

const compare: Readonly<Record<SortName, Compare>> = {
  name: compareNames,
  spend: (one, other) => other.account.budget_spent - one.account.budget_spent,
  used: (one, other) => (other.lastUsed ?? 0) - (one.lastUsed ?? 0),
  created: (one, other) =>
    other.account.created_at - one.account.created_at || compareNames(one, other),
}

/** What a list of keys is narrowed to. */
export interface KeyFilter {
  /** Part of a name, an id or a model, in any case. */
  readonly text: string
  /** The id of a group, `none` for keys without one, or nothing for all. */
  readonly group: string
  readonly state: KeyStateName | undefined
}

export function readState(text: string | null): KeyStateName | undefined {
  return keyStates.find((name) => name === text)
}

/** Whether a key is in a list. The keys of the console are in their own list only. */
export function matchesFilter(row: ListedKey, { text, group, state }: KeyFilter): boolean {
  const { account: key, state: found, groupName = '' } = row
  const isInState = state === undefined ? found.name !== 'console' : found.name === state
  const isInGroup = group === '' || (key.group_id ?? 'none') === group
  return (
    isInState && isInGroup && contains([key.name, key.id, groupName, ...(key.models ?? [])], text)
  )
}

/** Whether one of the texts contains the part, in any case. */
export function contains(texts: readonly string[], part: string): boolean {
  const wanted = part.trim().toLowerCase()
  return texts.some((text) => text.toLowerCase().includes(wanted))
}
