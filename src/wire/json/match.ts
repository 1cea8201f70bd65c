import type { ByteSpan, CacheLife, MemberLayout, ObjectLayout } from '../../core/layout.ts'
import { maxLife, mayBeMark, readMarkLife } from './cache-mark.ts'
import {
  backslash,
  closeBrace,
  closeBracket,
  colon,
  comma,
  isSpace,
  letterF,
  letterN,
  letterT,
  openBrace,
  openBracket,
  quote,
  space,
} from './codes.ts'
import type { JsonLimits } from './scan.ts'
import {
  absent,
  anything,
  jsonType,
  type ObjectShape,
  type Shape,
  type ShapeMember,
  type ShapeMembers,
  type ShapeVariant,
} from './shape.ts'
import { JsonStringReader } from './string-reader.ts'
import { countNumberBytes, findNumberEnd, findWordEnd } from './token.ts'

/** The byte positions and sizes of a JSON object that matches a shape, as in `ObjectLayout`. */
export type MatchedLayout<Name extends string> = MemberLayout<Name> &
  Pick<ObjectLayout<never>, 'values' | 'commas' | 'cacheLife'>

/** A JSON object that matches a shape. */
export interface JsonMatch<Name extends string> {
  readonly layout: MatchedLayout<Name>
  /** The counted bytes of each value that has a tally, by the name of the list. */
  readonly tallies: Readonly<Partial<Record<string, readonly number[]>>>
}

/**
 * Matches a JSON object against a shape in its bytes, without decoding or parsing them, in one pass of
 * half a millisecond per megabyte. The bytes must be valid UTF-8. A match is valid JSON within the limits;
 * its layout is that of `scanLayout`.
 *
 * Undefined says only that the text must be parsed: matching gives up on whatever is unusual, such as an
 * escape in a key, or a described member that occurs twice or in another letter case.
 */
export function matchJson<Name extends string>(
  bytes: Uint8Array,
  shape: ObjectShape<Name>,
  limits: JsonLimits,
): JsonMatch<Name> | undefined {
  const spans = { ...shape.noSpans }
  const matcher = new Matcher(bytes, { spans, limits })
  const start = matcher.skipSpace(0)
  if (bytes[start] !== openBrace) return undefined
  const end = matcher.matchValue(start, shape)
  if (end === mismatch || matcher.skipSpace(end) < bytes.length) return undefined
  const { values, commas, cacheLife, tallies } = matcher
  if (values > limits.maxValues) return undefined
  const isEmpty = bytes[matcher.skipSpace(start + 1)] === closeBrace
  return { layout: { spans, values, commas, cacheLife, close: end - 1, isEmpty }, tallies }
}

/** In place of the offset behind a value. */
const mismatch = -1

/** Keys are compared with those of the same object, so their numbers are limited. */
const maxCountedMembers = 64
const maxCountedKeys = 20_000

interface MatcherOptions {
  /** Gets the values of the described members of the outermost object. */
  readonly spans: Record<string, readonly ByteSpan[]>
  readonly limits: JsonLimits
}

class Matcher {
  readonly tallies: Record<string, number[]> = Object.create(null)
  values = 0
  commas = 0
  cacheLife: CacheLife = 'none'
  readonly #bytes: Uint8Array
  readonly #strings: JsonStringReader
  readonly #spans: Record<string, readonly ByteSpan[]>
  readonly #limits: JsonLimits
  #depth = 0
  #tally = 0
  /** Inside a value whose JSON counts. */
  #countsJson = false
  /** The hashes of the keys of the open objects whose JSON counts, outermost first. */
  readonly #keys: number[] = []
  #countedKeys = 0

  constructor(bytes: Uint8Array, { spans, limits }: MatcherOptions) {
    this.#bytes = bytes
    this.#spans = spans
    this.#strings = new JsonStringReader(bytes)
    this.#limits = limits
  }

  /** Returns the offset behind the value at `at`, or `mismatch`. */
  matchValue(at: number, shape: Shape, isItem = false): number {
    if (shape.tally === undefined) return this.#match(at, shape, isItem)
    this.#tally = 0
    const end = this.#match(at, shape, isItem)
    if (hasTally(this.#bytes[at], shape)) (this.tallies[shape.tally] ??= []).push(this.#tally)
    return end
  }

  skipSpace(from: number): number {
    const bytes = this.#bytes
    let at = from
    while (at < bytes.length && (bytes[at] as number) <= space && isSpace(bytes[at])) at++
    return at
  }

  #match(at: number, shape: Shape, isItem: boolean): number {
    const { types } = shape
    switch (at < this.#bytes.length ? this.#bytes[at] : undefined) {
      case quote:
        return (types & jsonType.string) === 0 ? mismatch : this.#matchString(at, shape, isItem)
      case openBrace:
        return (types & jsonType.object) === 0 ? mismatch : this.#matchContainer(at, shape)
      case openBracket:
        return (types & jsonType.array) === 0 ? mismatch : this.#matchContainer(at, shape)
      case letterT:
        return (types & jsonType.boolean) === 0 ? mismatch : this.#matchWord(at, trueWord, isItem)
      case letterF:
        return (types & jsonType.boolean) === 0 ? mismatch : this.#matchWord(at, falseWord, isItem)
      case letterN:
        return (types & jsonType.null) === 0 ? mismatch : this.#matchWord(at, nullWord, isItem)
      default:
        return (types & jsonType.number) === 0 ? mismatch : this.#matchNumber(at)
    }
  }

  #matchString(at: number, { countsText, avoids }: Shape, isItem: boolean): number {
    const end = this.#strings.findEnd(at + 1)
    if (end < 0) return mismatch
    if (isItem) this.values++
    if (this.#countsJson) this.#tally += end - at - this.#strings.savedJson
    else if (countsText) this.#tally += end - at - 2 - this.#strings.savedText
    if (!avoids) return end
    const isEmpty = end === at + 2
    return isEmpty || mayBeginWith(this.#bytes, at + 1, avoids) ? mismatch : end
  }

  #matchWord(at: number, word: Uint8Array, isItem: boolean): number {
    if (isItem) this.values++
    if (this.#countsJson) this.#tally += word.length
    return findWordEnd(this.#bytes, at, word)
  }

  #matchNumber(at: number): number {
    const end = findNumberEnd(this.#bytes, at)
    if (end < 0) return mismatch
    if (this.#countsJson) this.#tally += countNumberBytes(this.#bytes, { start: at, end })
    return end
  }

  #matchContainer(at: number, shape: Shape): number {
    const { maxDepth, maxValues } = this.#limits
    if (++this.#depth > maxDepth || ++this.values > maxValues) return mismatch
    const countsJson = this.#countsJson
    if (shape.countsJson) this.#countsJson = true
    const isObject = this.#bytes[at] === openBrace
    const end = isObject ? this.#matchObject(at, shape) : this.#matchArray(at, shape)
    this.#countsJson = countsJson
    this.#depth--
    return end
  }

  #matchArray(open: number, { items = anything, minItems }: Shape): number {
    const bytes = this.#bytes
    let at = this.#next(open)
    let count = 0
    if (bytes[at] !== closeBracket) {
      for (; ; at = this.#next(at)) {
        at = this.matchValue(at, items, true)
        if (at === mismatch) return mismatch
        count++
        at = this.skipSpace(at)
        if (bytes[at] !== comma) break
        // Numbers are not values, but each takes time.
        if (++this.commas > this.#limits.maxValues) return mismatch
      }
      if (bytes[at] !== closeBracket) return mismatch
    }
    this.#countPunctuation(count, 0)
    return count < minItems ? mismatch : at + 1
  }

  #matchObject(open: number, shape: Shape): number {
    const bytes = this.#bytes
    const firstKey = this.#keys.length
    let { members } = shape
    let required = members ? members.required : 0
    let seen = 0
    let count = 0
    let at = this.#next(open)
    if (bytes[at] !== closeBrace) {
      for (; ; at = this.#next(at)) {
        if (bytes[at] !== quote) return mismatch
        const keyEnd = this.#strings.findEnd(at + 1)
        if (keyEnd < 0) return mismatch
        if (this.#countsJson && !this.#countKey(at, keyEnd, firstKey)) return mismatch
        const member = members && findMember(bytes, at, keyEnd, members)
        if (member && (seen & member.bit) !== 0) return mismatch
        const key = at + 1
        at = this.skipSpace(keyEnd)
        if (bytes[at] !== colon) return mismatch
        const start = this.#next(at)
        if (mayBeMark(bytes, key))
          this.cacheLife = maxLife(this.cacheLife, readMarkLife(bytes, key, start))
        at = this.matchValue(start, member ? member.shape : anything)
        if (at === mismatch) return mismatch
        this.values++
        count++
        if (member) {
          seen |= member.bit
          required |= member.needs
          if (this.#depth === 1) this.#spans[member.name] = [{ start, end: at }]
          if (member.variants) {
            if (this.#strings.savedText > 0) return mismatch
            members = pickVariant(bytes, start, at, member.variants)
            if (!members) return mismatch
            required |= members.required
          }
        }
        at = this.skipSpace(at)
        if (bytes[at] !== comma) break
        this.commas++
      }
      if (bytes[at] !== closeBrace) return mismatch
    }
    this.#countPunctuation(count, count)
    if (this.#countsJson) this.#keys.length = firstKey
    return (seen & required) === required ? at + 1 : mismatch
  }

  /** Returns the offset of the token behind the one of a single byte at `at`. */
  #next(at: number): number {
    return this.skipSpace(at + 1)
  }

  #countPunctuation(items: number, colons: number): void {
    if (this.#countsJson) this.#tally += 2 + Math.max(0, items - 1) + colons
  }

  /**
   * Counts a key with its quotes. Returns false when another key of the object may be equal, because a
   * parser would drop one of them.
   */
  #countKey(start: number, end: number, firstKey: number): boolean {
    const keys = this.#keys
    if (keys.length - firstKey === maxCountedMembers || ++this.#countedKeys > maxCountedKeys)
      return false
    if (this.#strings.savedText > 0) return false
    let hash = 0
    for (let at = start; at < end; at++)
      hash = (Math.imul(hash, 31) + (this.#bytes[at] as number)) | 0
    for (let at = firstKey; at < keys.length; at++) if (keys[at] === hash) return false
    keys.push(hash)
    this.#tally += end - start
    return true
  }
}

/** True for a value that begins with `first`, unless it is `null` or its items have tallies. */
function hasTally(first: number | undefined, { items }: Shape): boolean {
  return first !== letterN && (first !== openBracket || items?.tally === undefined)
}

/** The member of a key that may be read in several ways: nothing matches it. */
const unclear: ShapeMember = {
  name: '',
  key: new Uint8Array(0),
  bit: 0,
  needs: 0,
  shape: absent,
  variants: undefined,
}

/** Finds the member whose key, with its quotes, is from `start` to `end`. */
function findMember(
  bytes: Uint8Array,
  start: number,
  end: number,
  { byLength }: ShapeMembers,
): ShapeMember | undefined {
  const candidates = byLength[end - start - 2]
  if (candidates) {
    for (const member of candidates) {
      if (matches(bytes, start + 1, member.key)) return member
    }
    for (const member of candidates) {
      if (resembles(bytes, start + 1, member.key)) return unclear
    }
  }
  return isPlain(bytes, start + 1, end - 1) ? undefined : unclear
}

function pickVariant(
  bytes: Uint8Array,
  start: number,
  end: number,
  variants: readonly ShapeVariant[],
): ShapeMembers | undefined {
  const length = end - start - 2
  return variants.find(
    ({ value }) =>
      value === undefined || (value.length === length && matches(bytes, start + 1, value)),
  )?.members
}

/** True if the key from `start` to `end` is ASCII without escapes. */
function isPlain(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number
    if (byte === backslash || byte >= 0x80) return false
  }
  return true
}

function matches(bytes: Uint8Array, start: number, text: Uint8Array): boolean {
  for (let n = 0; n < text.length; n++) if (bytes[start + n] !== text[n]) return false
  return true
}

/** True for a string that begins with `prefix`, or has an escape in its place. */
function mayBeginWith(bytes: Uint8Array, start: number, prefix: Uint8Array): boolean {
  for (let n = 0; n < prefix.length; n++) {
    const byte = bytes[start + n]
    if (byte !== prefix[n]) return byte === backslash
  }
  return true
}

/** True for another letter case too, and for a few other characters. */
function resembles(bytes: Uint8Array, start: number, text: Uint8Array): boolean {
  for (let n = 0; n < text.length; n++) {
    if (((bytes[start + n] as number) | 0x20) !== ((text[n] as number) | 0x20)) return false
  }
  return true
}

const encoder = new TextEncoder()
const trueWord = encoder.encode('true')
const falseWord = encoder.encode('false')
const nullWord = encoder.encode('null')
