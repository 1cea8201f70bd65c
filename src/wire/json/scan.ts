import type { ByteSpan, CacheLife, Cut, ObjectLayout, OpenContainer } from '../../core/layout.ts'
import { maxLife, mayBeMark, readMarkLife } from './cache-mark.ts'
import { backslash, comma as commaByte, isSpace, openBracket, quote as quoteByte } from './codes.ts'
import { matchName } from './key.ts'

/** Limits of a JSON text. The scan stops as soon as one is exceeded. */
export interface JsonLimits {
  readonly maxDepth: number
  readonly maxValues: number
}

export interface ScanOptions {
  readonly limits?: JsonLimits | undefined
  /** Minimum number of bytes between two cuts. */
  readonly stepBytes?: number | undefined
}

const unlimited: JsonLimits = {
  maxDepth: Number.POSITIVE_INFINITY,
  maxValues: Number.POSITIVE_INFINITY,
}

/** A step of this many bytes parses within a few milliseconds, whatever its content. */
export const defaultStepBytes = 256 * 1024

/** Containers below this depth are only counted. The arrays are shared: scans never overlap. */
const maxTrackedDepth = 256
const isArray = new Uint8Array(maxTrackedDepth)
/** Start of the last string of each open container; in an object, the key of the open member. */
const lastString = new Uint32Array(maxTrackedDepth)

/**
 * Locates top-level members of a JSON object and counts its values, without copying. It runs in linear
 * time without recursion, so a body can be checked before it is parsed: 12 kB take 15 µs, 10 MB 11 ms.
 * For bytes that are not a JSON object the result is meaningless.
 */
export function scanLayout<Name extends string>(
  bytes: Uint8Array,
  names: readonly Name[],
  { limits = unlimited, stepBytes = defaultStepBytes }: ScanOptions = {},
): ObjectLayout<Name> {
  // Without a prototype, so that a key such as `constructor` finds no inherited member.
  const spans: Record<Name, ByteSpan[]> = Object.create(null)
  for (const name of names) spans[name] = []
  const misspelled: Name[] = []
  const cuts: Cut[] = []
  const length = bytes.length
  let depth = 0
  let deepest = 0
  let values = 0
  let commas = 0
  let literals = 0
  let inArray = false
  let close = length
  let empty = true
  let name: Name | undefined
  let valueStart = -1
  let nextCut = stepBytes
  let cacheLife: CacheLife = 'none'

  const endValue = (end: number) => {
    if (name !== undefined) spans[name].push(trim(bytes, valueStart, end))
    name = undefined
    valueStart = -1
  }

  for (let at = 0; at < length; at++) {
    const meaning = meanings[bytes[at] as number]
    if (meaning === plain) continue
    switch (meaning) {
      case quote: {
        const end = findStringEnd(bytes, at)
        lastString[depth] = at
        if (inArray) values++
        else if (depth === 1 && valueStart < 0) {
          const match = matchName(bytes, { start: at + 1, end }, names)
          if (match?.isExact === true) name = match.name
          else if (match) misspelled.push(match.name)
          empty = false
        }
        at = values > limits.maxValues ? length : end
        break
      }
      case colon:
        if (depth === 1 && valueStart < 0) valueStart = at + 1
        if (mayBeMark(bytes, (lastString[depth] as number) + 1))
          cacheLife = maxLife(
            cacheLife,
            readMarkLife(bytes, (lastString[depth] as number) + 1, at + 1),
          )
        if (++values > limits.maxValues) at = length
        break
      case comma:
        if (bytes[at - 1] === commaByte) {
          // Two commas are not JSON; stop, since the parser will reject the text at once.
          at = length
          break
        }
        commas++
        if (depth === 1 && valueStart >= 0) endValue(at)
        if (at >= nextCut && depth > 0 && depth < maxTrackedDepth) {
          const isCut = isBetweenValues(bytes, at)
          if (isCut) cuts.push({ at, open: listOpenContainers(bytes, depth) })
          nextCut = at + (isCut ? stepBytes : stepBytes / 16)
        }
        break
      case open:
        depth++
        inArray = bytes[at] === openBracket
        isArray[depth] = inArray ? 1 : 0
        if (depth > deepest) deepest = depth
        if (++values > limits.maxValues || depth > limits.maxDepth) at = length
        break
      case closing:
        depth--
        inArray = isArray[depth] === 1
        if (depth > 0) break
        if (valueStart >= 0) endValue(at)
        close = at
        // Any text after the object is invalid, so the scan can stop.
        at = length
        break
      case literal:
        literals++
        if (inArray) values++
        if (values > limits.maxValues || literals > limits.maxValues) at = length
        break
    }
  }
  // Member by member, because a spread takes as long as 80 keys.
  return {
    depth: deepest,
    values,
    commas,
    cacheLife,
    spans,
    misspelled,
    close,
    isEmpty: empty,
    cuts,
  }
}

/** The meaning of a byte outside of strings. */
const plain = 0
const quote = 1
const colon = 2
const comma = 3
const open = 4
const closing = 5
/** The first letter of `true`, `false` or `null`, and no other letter of these. */
const literal = 6

const meanings = new Uint8Array(256)
for (const [characters, meaning] of [
  ['"', quote],
  [':', colon],
  [',', comma],
  ['{[', open],
  ['}]', closing],
  ['tfn', literal],
] as const) {
  for (const character of characters) meanings[character.charCodeAt(0)] = meaning
}

/** In strings up to this many bytes, a loop is faster than a native search. */
const shortStringBytes = 32

/**
 * Returns the index of the quote that ends the string at `start`. A native search is faster in long
 * strings without escaped quotes, such as base64 images; a loop is faster in others.
 */
function findStringEnd(bytes: Uint8Array, start: number): number {
  const near = findQuote(bytes, start + 1, start + shortStringBytes)
  if (near < start + shortStringBytes) return near
  const found = bytes.indexOf(quoteByte, near)
  if (found < 0) return bytes.length
  return bytes[found - 1] === backslash ? findQuote(bytes, near, bytes.length) : found
}

/** Returns the index of the closing quote, or the first one at or after `stop`. `at` is not escaped. */
function findQuote(bytes: Uint8Array, at: number, stop: number): number {
  const end = Math.min(stop, bytes.length)
  let next = at
  while (next < end) {
    const byte = bytes[next]
    if (byte === quoteByte) return next
    next += byte === backslash ? 2 : 1
  }
  return next
}

/** True if the comma at `at` has a value on both sides; otherwise the text is not JSON. */
function isBetweenValues(bytes: Uint8Array, at: number): boolean {
  let before = at - 1
  while (isSpace(bytes[before])) before--
  let after = at + 1
  while (isSpace(bytes[after])) after++
  const previous = meanings[bytes[before] ?? 0]
  const next = meanings[bytes[after] ?? 0]
  return previous !== open && previous !== comma && next !== closing && next !== comma
}

function listOpenContainers(bytes: Uint8Array, depth: number): OpenContainer[] {
  return Array.from({ length: depth }, (_, above) => {
    const level = above + 1
    if (isArray[level] === 1) return { kind: 'array' }
    const start = lastString[level] ?? 0
    return { kind: 'object', key: { start, end: findStringEnd(bytes, start) + 1 } }
  })
}

function trim(bytes: Uint8Array, start: number, end: number): ByteSpan {
  let from = start
  let to = end
  while (isSpace(bytes[from])) from++
  while (isSpace(bytes[to - 1])) to--
  return { start: from, end: to }
}
