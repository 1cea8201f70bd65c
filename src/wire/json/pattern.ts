import { tryParseJson } from './parse.ts'

export interface JsonPatternOptions {
  /** Returns what a JSON text reads as, which must not depend on anything else in it. */
  readonly readText: (json: string) => string | undefined
  /** Names of members whose values may differ too: whole numbers, and strings without escapes. */
  readonly varying?: readonly string[] | undefined
  readonly counts?: CountOptions<string> | undefined
}

/** Members of one object that may differ too: whole numbers, which are read. */
export interface CountOptions<Source> {
  readonly names: readonly string[]
  /** Returns the object. */
  readonly read: (source: Source) => Readonly<Record<string, unknown>> | undefined
}

/** What a text has in place of the learned text and counts. */
export interface Repeated {
  readonly text: string
  /** By the names of their members. */
  readonly counts: Readonly<Record<string, number>>
}

/**
 * Recognizes JSON texts that differ only in one string and in numbers, as most events of a stream do. It learns
 * what they have in common from one that was parsed. Comparing takes a fraction of the time of parsing (bench
 * scenario `stream`).
 */
export class JsonPattern {
  readonly #options: JsonPatternOptions
  #common: CommonParts | undefined
  /** Texts learned from since one was last recognized. */
  #attempts = 0

  constructor(options: JsonPatternOptions) {
    this.#options = options
  }

  /** Returns what differs in a text that equals the learned one otherwise; undefined for any other text. */
  match(json: string): Repeated | undefined {
    const repeated = this.#common && readHoles(json, this.#common)
    if (repeated) this.#attempts = 0
    return repeated
  }

  /**
   * Learns from a text that reads as `text`. Returns false when the place of that string or of a count is not
   * certain, and after several texts that had nothing in common.
   */
  learn(json: string, text: string): boolean {
    if (this.#attempts >= maxAttempts || json.length > maxLearned) return false
    this.#attempts++
    const common = findCommonParts(json, text, this.#options)
    if (!common || !isCertain(common, this.#options)) return false
    this.#common = common
    return true
  }
}

/** Longer texts are rare, and learning takes several times as long as parsing. */
const maxLearned = 64 * 1024

/** A stream whose events have nothing in common costs no more than this many attempts. */
const maxAttempts = 8

/** What the texts have in common, around the holes. */
interface CommonParts {
  readonly first: string
  /** The parts between two holes. */
  readonly inner: readonly string[]
  readonly last: string
  readonly holes: readonly Hole[]
}

interface Hole {
  readonly content: 'text' | 'count' | 'unread'
  /** The name of the member; empty for the text. */
  readonly name: string
  readonly start: number
  readonly end: number
}

function findCommonParts(
  json: string,
  text: string,
  { varying = [], counts }: JsonPatternOptions,
): CommonParts | undefined {
  const literal = JSON.stringify(text)
  const at = json.indexOf(literal)
  if (at < 0) return undefined
  const holes: Hole[] = [
    { content: 'text', name: '', start: at + 1, end: at + literal.length - 1 },
    ...varying.flatMap((name) => findMember(json, { content: 'unread', name })),
    ...(counts?.names ?? []).flatMap((name) => findMember(json, { content: 'count', name })),
  ]
  holes.sort((first, second) => first.start - second.start)
  const starts = holes.map(({ start }) => start)
  const ends = holes.map(({ end }) => end)
  return {
    first: json.slice(0, starts[0]),
    inner: ends.slice(0, -1).map((end, index) => json.slice(end, starts[index + 1])),
    last: json.slice(ends.at(-1)),
    holes,
  }
}

/** Returns the place of the value, if it begins as the holes of that content do. */
function findMember(json: string, { content, name }: Pick<Hole, 'content' | 'name'>): Hole[] {
  const key = `"${name}":`
  const at = json.indexOf(key)
  if (at < 0) return []
  const keyEnd = at + key.length
  const start = json[keyEnd] === ' ' ? keyEnd + 1 : keyEnd
  const begins = content === 'count' ? startsWithCount : startsWithScalar
  const [value] = begins.exec(json.slice(start)) ?? []
  return value === undefined ? [] : [{ content, name, start, end: start + value.length }]
}

/** The string, and the names of the counts, may occur elsewhere: other values must read as such. */
function isCertain(common: CommonParts, { readText, counts }: JsonPatternOptions): boolean {
  const json = fill(common)
  if (readText(json) !== probeText) return false
  const found = counts?.read(json)
  return common.holes.every(
    ({ content, name }, hole) => content !== 'count' || found?.[name] === toProbe(hole),
  )
}

function fill({ first, inner, last, holes }: CommonParts): string {
  const values = holes.map(({ content }, hole) => (content === 'text' ? probeText : toProbe(hole)))
  return [first, ...inner].map((part, hole) => `${part}${values[hole]}`).join('') + last
}

/** A text that no vendor sends. */
const probeText = '\ue000probe\ue000'

/** Each hole gets another number. */
function toProbe(hole: number): number {
  return 987_654_000 + hole
}

function readHoles(json: string, common: CommonParts): Repeated | undefined {
  const { first, inner, last, holes } = common
  let start = first.length
  const lastStart = json.length - last.length
  // Equality of slices is several times as fast as `startsWith` and `endsWith`.
  if (lastStart < start || json.slice(0, start) !== first || json.slice(lastStart) !== last) return
  let text: string | undefined
  const numbers: number[] = []
  for (let at = 0; at < holes.length; at++) {
    const hole = holes[at]
    const next = inner[at]
    if (!hole) return
    let end: number
    if (hole.content === 'count') {
      end = findCountEnd(json, start)
      if (next !== undefined && json.slice(end, end + next.length) !== next) return
    } else end = next === undefined ? lastStart : findNext(json, next, start)
    if (end < start || end > lastStart || (next === undefined && end < lastStart)) return
    switch (hole.content) {
      case 'text':
        text = readString(json.slice(start, end))
        break
      case 'count':
        if (end === start) return
        numbers.push(readCount(json, start, end))
        break
      case 'unread':
        if (!isScalar.test(json.slice(start, end))) return
        break
      default:
        return hole.content satisfies never
    }
    start = end + (next?.length ?? 0)
  }
  return text === undefined ? undefined : new Repetition(text, common, numbers)
}

/** Finds the part behind a hole. Most texts have no quote, and finding one takes a fraction of the time. */
function findNext(json: string, next: string, start: number): number {
  const quote = json.indexOf('"', start)
  return json.slice(quote, quote + next.length) === next ? quote : json.indexOf(next, start)
}

class Repetition implements Repeated {
  readonly text: string
  readonly common: CommonParts
  readonly numbers: readonly number[]

  constructor(text: string, common: CommonParts, numbers: readonly number[]) {
    this.text = text
    this.common = common
    this.numbers = numbers
  }

  /** Made when it is read: most readers of a text need no counts. */
  get counts(): Readonly<Record<string, number>> {
    const counts: Record<string, number> = {}
    let at = 0
    for (const { content, name } of this.common.holes) {
      if (content === 'count') counts[name] = this.numbers[at++] as number
    }
    return counts
  }
}

/** Returns the end of the count that begins at `start`, or `start` where none does. */
function findCountEnd(json: string, start: number): number {
  let end = start
  while (isDigit(json.charCodeAt(end))) end++
  const isLong = end - start > maxDigits || (end - start > 1 && json.charCodeAt(start) === zero)
  return isLong ? start : end
}

function readCount(json: string, start: number, end: number): number {
  let count = 0
  for (let at = start; at < end; at++) count = count * 10 + json.charCodeAt(at) - zero
  return count
}

function isDigit(code: number): boolean {
  return code >= zero && code <= zero + 9
}

const zero = 0x30

/** Each number of so many digits is exact. */
const maxDigits = 15

/** Returns the text of a string of JSON without its quotes; undefined when it is not exactly one string. */
function readString(hole: string): string | undefined {
  if (!hasSpecial.test(hole)) return hole
  if (!hole.includes('\\')) return undefined
  const value = tryParseJson(`"${hole}"`)
  return typeof value === 'string' ? value : undefined
}

/** A character that a string of JSON may have only as an escape, or another control character. */
const hasSpecial = /["\\\p{Cc}]/u

const startsWithCount = new RegExp(`^(?:0|[1-9]\\d{0,${maxDigits - 1}})`)
const startsWithScalar = /^(?:0|[1-9]\d{0,14}|"[\w.-]*")/
const isScalar = new RegExp(`${startsWithScalar.source}$`)
