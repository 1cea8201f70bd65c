import { tryParseJson } from './json.ts'

export interface JsonPatternOptions {
  /** Returns the text of a parsed JSON text, which must not depend on anything else in it. */
  readonly readText: (json: unknown) => string | undefined
  /** Names of members whose values may differ too: whole numbers, and strings without escapes. */
  readonly varying?: readonly string[] | undefined
}

/**
 * Recognizes JSON texts that differ only in one string, as most events of a stream do. It learns what they
 * have in common from one that was parsed. Comparing takes a fraction of the time of parsing (bench scenario
 * `stream`).
 */
export class JsonPattern {
  readonly #options: JsonPatternOptions
  #common: CommonParts | undefined
  /** Texts learned from since one was last recognized. */
  #attempts = 0

  constructor(options: JsonPatternOptions) {
    this.#options = options
  }

  /** Returns the string of a text that equals the learned one otherwise; undefined for any other text. */
  match(json: string): string | undefined {
    const text = this.#common && readHole(json, this.#common)
    if (text !== undefined) this.#attempts = 0
    return text
  }

  /**
   * Learns from a text that reads as `text`. Returns false when the place of that string is not certain, and
   * after several texts that had nothing in common.
   */
  learn(json: string, text: string): boolean {
    if (this.#attempts >= maxAttempts) return false
    this.#attempts++
    const { readText, varying = [] } = this.#options
    const common = findCommonParts(json, text, varying)
    // The string may occur elsewhere, too.
    const isRead = common && readText(tryParseJson(fill(common, probe))) === probe
    if (isRead) this.#common = common
    return isRead === true
  }
}

/** A stream whose events have nothing in common costs no more than this many attempts. */
const maxAttempts = 8

/** A text that no vendor sends. */
const probe = '\ue000probe\ue000'

/** What the texts have in common, around the holes. */
interface CommonParts {
  readonly first: string
  /** The parts between two holes. */
  readonly inner: readonly string[]
  readonly last: string
  /** The index of the hole that has the text; the others have scalars. */
  readonly textHole: number
}

function findCommonParts(
  json: string,
  text: string,
  varying: readonly string[],
): CommonParts | undefined {
  const literal = JSON.stringify(text)
  const at = json.indexOf(literal)
  if (at < 0) return undefined
  const own: Hole = { start: at + 1, end: at + literal.length - 1 }
  const holes = [own, ...varying.flatMap((name) => findScalar(json, name))]
  holes.sort((first, second) => first.start - second.start)
  const starts = holes.map(({ start }) => start)
  const ends = holes.map(({ end }) => end)
  return {
    first: json.slice(0, starts[0]),
    inner: ends.slice(0, -1).map((end, index) => json.slice(end, starts[index + 1])),
    last: json.slice(ends.at(-1)),
    textHole: holes.indexOf(own),
  }
}

interface Hole {
  readonly start: number
  readonly end: number
}

function findScalar(json: string, name: string): Hole[] {
  const key = `"${name}":`
  const at = json.indexOf(key)
  if (at < 0) return []
  const start = at + key.length
  const [scalar] = startsWithScalar.exec(json.slice(start)) ?? []
  return scalar === undefined ? [] : [{ start, end: start + scalar.length }]
}

function fill({ first, inner, last, textHole }: CommonParts, text: string): string {
  const value = (hole: number) => (hole === textHole ? text : '0')
  return [first, ...inner].map((part, hole) => part + value(hole)).join('') + last
}

function readHole(json: string, { first, inner, last, textHole }: CommonParts): string | undefined {
  let start = first.length
  const lastStart = json.length - last.length
  // Equality of slices is several times as fast as `startsWith` and `endsWith`.
  if (lastStart < start || json.slice(0, start) !== first || json.slice(lastStart) !== last) return
  let text: string | undefined
  for (let hole = 0; hole <= inner.length; hole++) {
    const next = inner[hole]
    const end = next === undefined ? lastStart : json.indexOf(next, start)
    if (end < start || end > lastStart) return
    const inside = json.slice(start, end)
    if (hole === textHole) text = readString(inside)
    else if (!isScalar.test(inside)) return
    start = end + (next?.length ?? 0)
  }
  return text
}

/** Returns the text of a string of JSON without its quotes; undefined when it is not exactly one string. */
function readString(hole: string): string | undefined {
  if (!hasSpecial.test(hole)) return hole
  if (!hole.includes('\\')) return undefined
  const value = tryParseJson(`"${hole}"`)
  return typeof value === 'string' ? value : undefined
}

/** A character that a string of JSON may have only as an escape, or another control character. */
const hasSpecial = /["\\\p{Cc}]/u

const startsWithScalar = /^(?:0|[1-9]\d{0,14}|"[\w.-]*")/
const isScalar = new RegExp(`${startsWithScalar.source}$`)
