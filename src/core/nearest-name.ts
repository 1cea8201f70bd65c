/** Returns the candidate that a misspelt name probably means; undefined when none is close. */
export function nearestName(name: string, candidates: Iterable<string>): string | undefined {
  const wanted = name.toLowerCase()
  // A third of the letters may be wrong, at least one, but never all of them.
  let limit = Math.min(Math.max(1, Math.floor(wanted.length / 3)), wanted.length - 1)
  let nearest: string | undefined
  let containing: string | undefined
  for (const candidate of candidates) {
    const other = candidate.toLowerCase()
    if (containing === undefined && hasWords(other, wanted)) containing = candidate
    // The distance is at least the difference in length, which rules most candidates out.
    if (Math.abs(other.length - wanted.length) > limit) continue
    const distance = editDistance(wanted, other, limit)
    if (distance > limit) continue
    nearest = candidate
    limit = distance - 1
  }
  return nearest ?? containing
}

/** True when `words` are consecutive words of a name: `api_key` of `api_key_env`. */
function hasWords(name: string, words: string): boolean {
  return words !== '' && `_${name}_`.includes(`_${words}_`)
}

/**
 * Number of letters to insert, remove, replace, or swap with their neighbour; `Infinity` when it is more
 * than `limit`. Clients choose the names, so it looks only at cells that can stay within the limit.
 */
function editDistance(from: string, to: string, limit: number): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, j) => j)
  for (let i = 1; i <= from.length; i++) {
    const row = last.slice().fill(Number.POSITIVE_INFINITY)
    row[0] = i
    let least = i
    const end = Math.min(to.length, i + limit)
    for (let j = Math.max(1, i - limit); j <= end; j++) {
      const same = from[i - 1] === to[j - 1]
      const swapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]
      const distance = Math.min(
        at(last, j) + 1,
        at(row, j - 1) + 1,
        at(last, j - 1) + (same ? 0 : 1),
        swapped ? at(beforeLast, j - 2) + 1 : Number.POSITIVE_INFINITY,
      )
      row[j] = distance
      if (distance < least) least = distance
    }
    if (least > limit) return Number.POSITIVE_INFINITY
    beforeLast = last
    last = row
  }
  return at(last, to.length)
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY
}
