/**
 * Whether the vendor enforces a regular expression. It refuses assertions, references to groups, word
 * boundaries and large repetitions:
 * https://platform.claude.com/docs/en/build-with-claude/structured-outputs
 */
export function isSimplePattern(pattern: unknown): boolean {
  if (typeof pattern !== 'string' || refused.test(pattern)) return false
  return [...pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g)].every(
    ([, min, max]) => Math.max(Number(min), Number(max || 0)) <= maxRepetition,
  )
}

/** A group that is more than a group, or an escape other than of a character or of `d`, `w`, `s`. */
const refused = /\(\?|\\[1-9bBkpPu]/

/** The vendor names no number. Longer repetitions are what makes a grammar large. */
const maxRepetition = 100
