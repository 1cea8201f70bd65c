import { findValueEnd, readItems, readMembers, skipSpace } from './text.ts'

/*
 * Removes members of objects and items of arrays from a JSON text, each with its comma, and keeps all other
 * characters. The text must be valid JSON; check it with `JSON.parse` first.
 */

/** Removes every member that matches a dotted path. `*` matches each item of an array. */
export function cutMembers(json: string, pattern: string): string {
  const steps = pattern.split('.')
  return cutEntries(json, (key, depth) => {
    if (steps[depth] !== (typeof key === 'number' ? '*' : key)) return 'keep'
    return depth === steps.length - 1 ? 'cut' : 'enter'
  })
}

/** Removes the members of the object itself that have one of these names. A dot in a name means nothing. */
export function cutNames(json: string, names: ReadonlySet<string>): string {
  return cutEntries(json, (key) => (names.has(String(key)) ? 'cut' : 'keep'))
}

/** Removes the values at these dotted paths, in which items of arrays have their numbers. */
export function cutPaths(json: string, paths: readonly string[]): string {
  const whole = new Set(paths)
  const parents = new Set(paths.flatMap(listParents))
  const open: string[] = []
  return cutEntries(json, (key, depth) => {
    open.length = depth
    open.push(String(key))
    const path = open.join('.')
    if (whole.has(path)) return 'cut'
    return parents.has(path) ? 'enter' : 'keep'
  })
}

function listParents(path: string): string[] {
  const steps = path.split('.')
  return steps.slice(1).map((_, at) => steps.slice(0, at + 1).join('.'))
}

type Decision = 'cut' | 'enter' | 'keep'

/** `decide` gets the name of a member or the number of an item, and the number of containers around it. */
function cutEntries(
  json: string,
  decide: (key: string | number, depth: number) => Decision,
): string {
  let rest = ''
  let from = 0
  const cut = (start: number, end: number) => {
    rest += json.slice(from, start)
    from = end
  }

  /** Reads the value at `start` and returns its end. */
  const read = (start: number, depth: number): number => {
    const entries = new EntryCutter(start + 1, cut)
    const readEntry = (at: number, key: string | number, entryStart = at): number => {
      const decision = decide(key, depth)
      if (decision === 'cut') return entries.cut(entryStart, findValueEnd(json, at))
      entries.keep(entryStart)
      return entries.leave(decision === 'enter' ? read(at, depth + 1) : findValueEnd(json, at))
    }
    const first = json[start]
    if (first !== '{' && first !== '[') return findValueEnd(json, start)
    const end =
      first === '[' ? readItems(json, start, readEntry) : readMembers(json, start, readEntry)
    entries.end()
    return end
  }

  read(skipSpace(json, 0), 0)
  return from === 0 ? json : rest + json.slice(from)
}

/** Cuts entries of one container. Without a kept entry before it, one is cut with the comma behind it. */
class EntryCutter {
  readonly #cut: (start: number, end: number) => void
  #isFirst = true
  /** The start of the entries that are cut as soon as the next one is known. */
  #waiting: number | undefined
  /** The end of the latest entry. */
  #last: number

  constructor(start: number, cut: (start: number, end: number) => void) {
    this.#last = start
    this.#cut = cut
  }

  cut(start: number, end: number): number {
    if (this.#isFirst) this.#waiting ??= start
    else this.#cut(this.#last, end)
    return this.leave(end)
  }

  keep(start: number): void {
    if (this.#waiting !== undefined) this.#cut(this.#waiting, start)
    this.#waiting = undefined
    this.#isFirst = false
  }

  leave(end: number): number {
    this.#last = end
    return end
  }

  end(): void {
    if (this.#waiting !== undefined) this.#cut(this.#waiting, this.#last)
  }
}
