import { isObject } from '../../wire/json/parse.ts'
import { createMembers, type KnownMembers, replaceKnown } from './known-members.ts'

/** What the chunks of a candidate say about its sources: their lists add up, and some repeat what earlier ones say. */
export class JoinedSources {
  readonly #grounding = createMembers()
  readonly #sources = new DistinctList()
  readonly #supports = new DistinctList()
  /** The places of the latest sources among all, to which later supports refer. */
  #places: readonly number[] = []
  readonly #reports = new Map<string, Map<string, DistinctList>>()

  addGrounding(metadata: unknown): void {
    if (!isObject(metadata)) return
    const { groundingChunks: sources, groundingSupports: supports, ...others } = metadata
    replaceKnown(this.#grounding, others)
    if (Array.isArray(sources) && sources.length > 0) {
      this.#places = sources.map((source) => this.#sources.add(source))
      this.#grounding['groundingChunks'] = this.#sources.items
    }
    if (!Array.isArray(supports) || supports.length === 0) return
    for (const support of supports) this.#supports.add(this.#place(support))
    this.#grounding['groundingSupports'] = this.#supports.items
  }

  /** Adds the lists of `citationMetadata` or of `urlContextMetadata`. */
  addReport(name: string, report: unknown): void {
    if (!isObject(report)) return
    const lists = this.#reports.get(name) ?? new Map<string, DistinctList>()
    this.#reports.set(name, lists)
    for (const [member, items] of Object.entries(report)) {
      if (!Array.isArray(items)) continue
      const list = lists.get(member) ?? new DistinctList()
      lists.set(member, list)
      for (const item of items) list.add(item)
    }
  }

  /** The members of the candidate. */
  get members(): Readonly<KnownMembers> {
    const members = createMembers()
    if (Object.keys(this.#grounding).length > 0) members['groundingMetadata'] = this.#grounding
    for (const [name, lists] of this.#reports) {
      members[name] = Object.fromEntries([...lists].map(([member, { items }]) => [member, items]))
    }
    return members
  }

  #place(support: unknown): unknown {
    if (!isObject(support) || !Array.isArray(support['groundingChunkIndices'])) return support
    const indices = support['groundingChunkIndices'].map((at) => this.#places[at] ?? at)
    return { ...support, groundingChunkIndices: indices }
  }
}

/** A list in which each item is once. */
class DistinctList {
  readonly items: unknown[] = []
  readonly #places = new Map<string, number>()

  /** Returns the place of the item. */
  add(item: unknown): number {
    const json = JSON.stringify(item)
    const known = this.#places.get(json)
    if (known !== undefined) return known
    this.#places.set(json, this.items.length)
    return this.items.push(item) - 1
  }
}
