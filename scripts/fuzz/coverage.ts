import { Session } from 'node:inspector'

/** How often each part of the product's code ran, by V8's own counters. */
export type Profile = readonly FunctionProfile[]

interface FunctionProfile {
  readonly scriptId: string
  /** The whole function first, then its parts; inner ones follow outer ones, and their counts apply. */
  readonly ranges: readonly Range[]
}

/** Collects which code has run. A profile takes milliseconds, so several executions should share one. */
export class Coverage {
  readonly #session = new Session()
  /** For each character of a script, one bit for each order of magnitude of its counts. */
  readonly #seen = new Map<string, Uint8Array>()
  /** The number of characters that have run. */
  characters = 0

  constructor() {
    this.#session.connect()
    this.#session.post('Profiler.enable')
    this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  }

  /** Returns what ran since the last call. */
  take(): Profile {
    let profile: Profile = []
    // The callback of an inspector in the same thread runs before `post` returns.
    this.#session.post('Profiler.takePreciseCoverage', (error, { result }) => {
      if (error) throw error
      profile = result
        .filter(({ url }) => isOwnCode(url))
        .flatMap(({ scriptId, functions }) => functions.map(({ ranges }) => ({ scriptId, ranges })))
    })
    return profile
  }

  /** Whether some of this code has not run before. */
  reachesNew(profile: Profile): boolean {
    return profile.some(({ scriptId, ranges }) => {
      const seen = this.#seen.get(scriptId)
      const start = ranges[0]?.startOffset ?? 0
      return countCharacters(ranges).some((count, at) => count > 0 && !seen?.[start + at])
    })
  }

  /** Adds a profile, and returns whether some code ran for the first time, or in another magnitude. */
  add(profile: Profile): boolean {
    let isNew = false
    for (const { scriptId, ranges } of profile) {
      const start = ranges[0]?.startOffset ?? 0
      const counts = countCharacters(ranges)
      const seen = this.#getSeen(scriptId, start + counts.length)
      for (const [at, count] of counts.entries()) {
        const before = seen[start + at] ?? 0
        const after = before | toMagnitude(count)
        if (after === before) continue
        if (before === 0) this.characters++
        seen[start + at] = after
        isNew = true
      }
    }
    return isNew
  }

  #getSeen(scriptId: string, length: number): Uint8Array {
    const seen = this.#seen.get(scriptId)
    if (seen && seen.length >= length) return seen
    const longer = new Uint8Array(length * 2)
    longer.set(seen ?? [])
    this.#seen.set(scriptId, longer)
    return longer
  }
}

/** Returns the count of each character of a function. */
function countCharacters(ranges: readonly Range[]): Float64Array {
  const start = ranges[0]?.startOffset ?? 0
  const counts = new Float64Array((ranges[0]?.endOffset ?? start) - start)
  for (const { startOffset, endOffset, count } of ranges) {
    counts.fill(count, startOffset - start, endOffset - start)
  }
  return counts
}

interface Range {
  readonly startOffset: number
  readonly endOffset: number
  readonly count: number
}

function isOwnCode(url: string): boolean {
  return /\/(?:src|adapters)\//.test(url) && !url.includes('/node_modules/')
}

/** Returns a bit for the order of magnitude of a count: 1, 2, up to 7, 31, 127, and more; 0 for 0. */
function toMagnitude(count: number): number {
  if (count < 3) return count
  if (count < 8) return 4
  if (count < 32) return 8
  return count < 128 ? 16 : 32
}
