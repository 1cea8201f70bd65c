import type { Principal } from '../core/admission.ts'
import type { GroupId, KeyId } from '../core/ids.ts'
import type { Clock } from '../core/ports.ts'
import type { AccountRows, GroupRow, KeyRow } from '../store/index.ts'
import { Budget, type GroupEntry, KeyEntry } from './budget.ts'
import type { BudgetObserver } from './budget-watch.ts'
import { type AdmissionDeps, KeyPrincipal } from './principal.ts'

export interface KeyRegistryOptions {
  readonly clock: Clock
  readonly watch: BudgetObserver
  /** Output tokens that a reservation assumes where nothing bounds them. */
  readonly reserveOutputTokens: () => number
}

/**
 * Every key and group in memory, tombstones included. What they spend is counted here; it reaches
 * the database with the usage rows, and is only read from there for what is not yet known here.
 */
export class KeyRegistry {
  readonly #watch: BudgetObserver
  readonly #door: AdmissionDeps
  #keys = new Map<KeyId, KeyEntry>()
  #groups = new Map<GroupId, GroupEntry>()
  #changes = 0

  constructor({ clock, watch, reserveOutputTokens }: KeyRegistryOptions) {
    this.#watch = watch
    this.#door = {
      clock,
      reserveOutputTokens,
      groupOf: ({ record }) => this.#liveGroup(record.groupId),
      charged: (budget) => watch.charged(budget),
      refused: (budget) => watch.refused(budget),
      admitted: (budget) => watch.admitted(budget),
    }
  }

  /** How many records were added or replaced, one by one: tells whether rows that were read are stale. */
  get changes(): number {
    return this.#changes
  }

  /** Takes over what the database holds, and in its order. */
  load({ keys, groups }: AccountRows): void {
    const known = { keys: this.#keys, groups: this.#groups }
    this.#groups = new Map(groups.map((row) => [row.id, this.#group(row, known.groups)]))
    this.#keys = new Map(keys.map((row) => [row.id, this.#key(row, known.keys)]))
  }

  /** Adds a key, or replaces its record: in force from the next request on. */
  putKey(row: KeyRow): KeyEntry {
    const entry = this.#key(row, this.#keys)
    this.#keys.set(row.id, entry)
    this.#changes++
    return entry
  }

  /** Adds a group, or replaces its record. */
  putGroup(row: GroupRow): GroupEntry {
    const entry = this.#group(row, this.#groups)
    this.#groups.set(row.id, entry)
    this.#changes++
    return entry
  }

  /** In order of creation. */
  keys(): readonly KeyEntry[] {
    return [...this.#keys.values()]
  }

  key(id: KeyId): KeyEntry | undefined {
    return this.#keys.get(id)
  }

  /** In order of creation. */
  groups(): readonly GroupEntry[] {
    return [...this.#groups.values()]
  }

  group(id: GroupId): GroupEntry | undefined {
    return this.#groups.get(id)
  }

  /** How many keys that are not deleted are in a group. */
  membersOf(id: GroupId): number {
    return this.keys().filter(({ record }) => record.groupId === id && record.deletedAt === null)
      .length
  }

  /** The sender of a request that has shown this key. */
  callerOf(key: KeyEntry): Principal {
    return new KeyPrincipal(key, this.#door)
  }

  #liveGroup(id: GroupId | null): GroupEntry | undefined {
    const group = id === null ? undefined : this.#groups.get(id)
    return group?.record.deletedAt === null ? group : undefined
  }

  #key(row: KeyRow, known: ReadonlyMap<KeyId, KeyEntry>): KeyEntry {
    // What is shown to the outside never holds the digest.
    const { digest: _, budgetSpent: spent, ...record } = row
    const entry = known.get(row.id)
    return this.#told(entry, record, () => new KeyEntry({ scope: 'key', record, spent }))
  }

  #group(row: GroupRow, known: ReadonlyMap<GroupId, GroupEntry>): GroupEntry {
    const { budgetSpent: spent, ...record } = row
    const entry = known.get(row.id)
    return this.#told(entry, record, () => new Budget({ scope: 'group', record, spent }))
  }

  /** The entry with its new record, or a new entry. */
  #told<Entry extends Budget>(
    entry: Entry | undefined,
    record: Entry['record'],
    create: () => Entry,
  ): Entry {
    if (!entry) {
      const created = create()
      this.#watch.loaded(created)
      return created
    }
    entry.replace(record)
    this.#watch.changed(entry)
    return entry
  }
}
