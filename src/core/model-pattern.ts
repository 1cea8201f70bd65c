import { nameRule } from './ids.ts'

/*
 * Patterns: ids of models that end in `*` and serve every id which begins with what comes before it. The part
 * of such an id after the beginning, its rest, takes the place of the `*` in the vendor's name of the model.
 */

/** How an id came to be served by a pattern. */
export interface ModelMatch {
  /** The id of the pattern, with its `*`. */
  readonly pattern: string
  /** The vendor lists the model, so that its name is one of a known number. */
  readonly isListed: boolean
}

/** A model or a route, as far as its name in metrics depends on it. */
export interface MetricsModel {
  readonly id: string
  /** Absent for an id of the configuration. */
  readonly match?: ModelMatch | undefined
}

/** The name of a model in metrics. Clients may invent ids that a pattern serves: these count as the pattern. */
export function nameInMetrics({ id, match }: MetricsModel): string {
  return match === undefined || match.isListed ? id : match.pattern
}

export function isPattern(id: string): boolean {
  return id.endsWith('*')
}

/** An entry and the part of an id after the beginning that its pattern has. */
export interface PatternMatch<Entry> {
  readonly entry: Entry
  readonly rest: string
}

/** Finds the pattern of an id: the longest one, when several match. The rest is never empty. */
export class PatternIndex<Entry> {
  readonly #entries: ReadonlyMap<string, Entry>
  /** The lengths that beginnings have, the longest first. */
  readonly #lengths: readonly number[]

  constructor(entries: Iterable<readonly [pattern: string, entry: Entry]>) {
    this.#entries = new Map(
      Array.from(entries, ([pattern, entry]) => [pattern.slice(0, -1), entry] as const),
    )
    const lengths = new Set(Array.from(this.#entries.keys(), (beginning) => beginning.length))
    this.#lengths = [...lengths].sort((a, b) => b - a)
  }

  find(id: string): PatternMatch<Entry> | undefined {
    if (this.#lengths.length === 0 || !isServableId(id)) return undefined
    for (const length of this.#lengths) {
      if (length >= id.length) continue
      const entry = this.#entries.get(id.slice(0, length))
      if (entry !== undefined) return { entry, rest: id.slice(length) }
    }
    return undefined
  }
}

/**
 * Clients choose the ids that patterns match, and some vendors have the model in the path of their addresses. So
 * characters with a meaning in an address are refused, and segments that lead out of a path.
 */
const unsafe = /[?#%\\]|(?:^|\/)\.{1,2}(?:\/|$)/

function isServableId(id: string): boolean {
  return nameRule.test(id) && !unsafe.test(id)
}

/** The vendor's name of a model that a pattern matches. */
export function fillPattern(upstreamId: string, rest: string): string {
  // A function, since `$` has a meaning in a text.
  return upstreamId.replace('*', () => rest)
}

/**
 * Returns the rest for which `fillPattern` makes a name. Undefined when there is none, and when every rest
 * makes the same name.
 */
export function extractRest(upstreamId: string, name: string): string | undefined {
  const at = upstreamId.indexOf('*')
  if (at < 0) return undefined
  const [before, after] = [upstreamId.slice(0, at), upstreamId.slice(at + 1)]
  const isMatch = name.startsWith(before) && name.endsWith(after)
  if (!isMatch || name.length <= before.length + after.length) return undefined
  return name.slice(at, name.length - after.length)
}
