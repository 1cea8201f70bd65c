import type { AccountState, BudgetGroup, BudgetScope, VirtualKey } from '../core/accounts.ts'
import type { Principal } from '../core/admission.ts'
import type { GroupId, KeyId, Millis, NanoUsd } from '../core/ids.ts'
import type { AccountRows, GroupRow, KeyRow } from '../store/index.ts'
import {
  type AccountEntry,
  createGroupEntry,
  createKeyEntry,
  type GroupEntry,
  type KeyEntry,
} from './account-entry.ts'
import type { BudgetObserver } from './budget-observer.ts'
import { type AdmissionDeps, KeyPrincipal } from './principal.ts'

export type KeyRegistryOptions = Omit<AdmissionDeps, 'findGroup'>

/**
 * Every key and group in memory, tombstones included. Spend is counted here and reaches the
 * database with the usage rows. It is read back only for keys and groups that are new to the
 * registry.
 */
export class KeyRegistry {
  readonly #observer: BudgetObserver
  readonly #deps: AdmissionDeps
  #keys = new Map<KeyId, KeyEntry>()
  #groups = new Map<GroupId, GroupEntry>()
  #changes = 0
  /** The spend of keys and groups before the rows that are being loaded. */
  #earlier: ReadonlyMap<string, EarlierSpend> = new Map()

  constructor(options: KeyRegistryOptions) {
    this.#observer = options.observer
    this.#deps = { ...options, findGroup: ({ record }) => this.#findLiveGroup(record.groupId) }
  }

  /** The number of updates so far. It has grown when rows that were read before are stale. */
  get changes(): number {
    return this.#changes
  }

  /**
   * Replaces all records by those of the database, in its order. What the budgets of new entries were charged
   * since `before` is news to the observer.
   */
  load({ keys, groups }: AccountRows, before: AccountRows = noAccounts): void {
    this.#earlier = new Map([...before.keys, ...before.groups].map((row) => [row.id, row]))
    const knownKeys = this.#keys
    const knownGroups = this.#groups
    this.#groups = new Map(groups.map((row) => [row.id, this.#upsertGroup(row, knownGroups)]))
    this.#keys = new Map(keys.map((row) => [row.id, this.#upsertKey(row, knownKeys)]))
    this.#earlier = new Map()
  }

  /** Adds these keys and groups, or replaces their records. */
  update({ keys, groups }: AccountRows): void {
    for (const row of groups) this.putGroup(row)
    for (const row of keys) this.putKey(row)
  }

  /** Adds a key or replaces its record, in force from the next request on. */
  putKey(row: KeyRow): KeyEntry {
    const entry = this.#upsertKey(row, this.#keys)
    this.#keys.set(row.id, entry)
    this.#changes++
    return entry
  }

  /** Adds a group or replaces its record. */
  putGroup(row: GroupRow): GroupEntry {
    const entry = this.#upsertGroup(row, this.#groups)
    this.#groups.set(row.id, entry)
    this.#changes++
    return entry
  }

  /** In order of creation. */
  listKeys(): readonly KeyEntry[] {
    return Array.from(this.#keys.values(), (entry) => this.#turn(entry))
  }

  getKey(id: KeyId): KeyEntry | undefined {
    const entry = this.#keys.get(id)
    return entry && this.#turn(entry)
  }

  /** In order of creation. */
  listGroups(): readonly GroupEntry[] {
    return Array.from(this.#groups.values(), (entry) => this.#turn(entry))
  }

  getGroup(id: GroupId): GroupEntry | undefined {
    const entry = this.#groups.get(id)
    return entry && this.#turn(entry)
  }

  /** Finds a key or a group by its scope and id: `key:ID`. */
  find(name: `${BudgetScope}:${string}`): AccountEntry | undefined {
    const at = name.indexOf(':')
    // An id of no key or group finds nothing.
    const id = name.slice(at + 1) as KeyId & GroupId
    return name.startsWith('key') ? this.#keys.get(id) : this.#groups.get(id)
  }

  /** Counts the keys of a group that are not deleted. */
  countMembers(id: GroupId): number {
    return this.listKeys().filter(
      ({ record }) => record.groupId === id && record.deletedAt === null,
    ).length
  }

  /** Returns the group whose limits apply to a key; undefined without one, and when it is deleted. */
  getGroupOf({ record }: AccountState<VirtualKey>): GroupEntry | undefined {
    const group = this.#findLiveGroup(record.groupId)
    return group && this.#turn(group)
  }

  /** The wall clock by which minutes and terms end. */
  now(): Millis {
    return this.#deps.ledger.now()
  }

  /** Brings the spend and the counts of keys and groups up to date, where processes share them. */
  refresh(states: readonly AccountState<VirtualKey | BudgetGroup>[]): void | Promise<void> {
    const entries = states.flatMap(({ record }) => {
      // One of the two: no key has the id of a group.
      const entry: AccountEntry | undefined =
        this.#keys.get(record.id as KeyId) ?? this.#groups.get(record.id as GroupId)
      return entry ?? []
    })
    return this.#deps.ledger.refresh(entries)
  }

  /** Returns the principal of a request that came with this key. */
  createPrincipal(key: KeyEntry): Principal {
    return new KeyPrincipal(key, this.#deps)
  }

  #findLiveGroup(id: GroupId | null): GroupEntry | undefined {
    const group = id === null ? undefined : this.#groups.get(id)
    return group?.record.deletedAt === null ? group : undefined
  }

  #upsertKey(row: KeyRow, known: ReadonlyMap<KeyId, KeyEntry>): KeyEntry {
    return this.#upsert(known.get(row.id), createKeyEntry(row))
  }

  #upsertGroup(row: GroupRow, known: ReadonlyMap<GroupId, GroupEntry>): GroupEntry {
    return this.#upsert(known.get(row.id), createGroupEntry(row))
  }

  /** Returns the known entry with the record of the stored one, or else the stored one. */
  #upsert<Record extends VirtualKey | BudgetGroup>(
    entry: AccountEntry<Record> | undefined,
    stored: AccountEntry<Record>,
  ): AccountEntry<Record> {
    if (!entry) {
      stored.turn(this.#deps.ledger.now())
      this.#observe(stored)
      return stored
    }
    if (entry.replace(stored.record, stored.term)) this.#observer.turned(entry)
    this.#observer.changed(entry)
    return this.#turn(entry)
  }

  #observe(stored: AccountEntry): void {
    const { record, term } = stored
    const earlier = this.#earlier.get(record.id)
    if (!earlier) return this.#observer.loaded(stored)
    const isSame = earlier.term.since === term.since
    this.#observer.loaded(stored, isSame ? earlier.budgetSpent : nothing)
    this.#observer.charged(stored)
  }

  /** Resets the budget of an entry if that is due. */
  #turn<Entry extends AccountEntry>(entry: Entry): Entry {
    if (entry.turn(this.#deps.ledger.now())) this.#observer.turned(entry)
    return entry
  }
}

type EarlierSpend = Pick<KeyRow, 'budgetSpent' | 'term'>

const noAccounts: AccountRows = Object.freeze({ keys: [], groups: [] })

const nothing = 0n as NanoUsd
