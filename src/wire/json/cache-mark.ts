import type { CacheLife } from '../../core/layout.ts'
import {
  backslash,
  closeBrace,
  colon,
  letterN,
  letterO,
  openBrace,
  openBracket,
  quote,
  space,
} from './codes.ts'
import { matchName } from './key.ts'

/*
 * Marks of prompt caching, in the bytes of a request: the member `cache_control` of the Messages API and of the
 * chat APIs that took it over, and `cachePoint` of Converse. A vendor writes the prompt before a mark to its
 * cache, for five minutes or an hour, at a price of its own.
 * https://platform.claude.com/docs/en/build-with-claude/prompt-caching
 * https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html
 */
const names = ['cache_control', 'cachepoint'] as const

/**
 * True for a key, whose text begins at `start`, that may be one of a mark, also with escapes or in another
 * letter case. Called for every key of a request, nearly all of which it excludes.
 */
export function mayBeMark(bytes: Uint8Array, start: number): boolean {
  return beginsMark[bytes[start] as number] === 1 && bytes[start + 1] !== letterO
}

/**
 * Returns how long the mark with the key at `key` and the value at `start` keeps what is written; `none` for
 * another key.
 */
export function readMarkLife(bytes: Uint8Array, key: number, start: number): CacheLife {
  const isMark = matchName(bytes, { start: key, end: findEnd(bytes, key) }, names) !== undefined
  return isMark ? readCacheLife(bytes, start) : 'none'
}

/** No key of a mark is longer: each of its letters may be an escape of six bytes. */
const maxNameBytes = 6 * 'cache_control'.length

/** Returns the offset of the quote that closes the key at `start`; one behind the longest name otherwise. */
function findEnd(bytes: Uint8Array, start: number): number {
  const end = Math.min(bytes.length, start + maxNameBytes + 1)
  for (let at = start; at < end; at++) if (bytes[at] === quote) return at
  return end
}

/** A mark takes some 30 bytes. A longer one is not read to its end, but counts as the longest. */
const maxMarkBytes = 256

/**
 * Returns how long the mark whose value begins at `start`, or behind white space, keeps what is written. What
 * is not plainly a mark of five minutes counts as one of an hour: it can only be reserved for too much.
 */
function readCacheLife(bytes: Uint8Array, start: number): CacheLife {
  const end = Math.min(bytes.length, start + maxMarkBytes)
  let at = start
  while (at < end && (bytes[at] as number) <= space) at++
  if (bytes[at] === letterN) return 'none'
  if (bytes[at] !== openBrace) return '5m'
  for (at++; at < end; at++) {
    const byte = bytes[at] as number
    if (byte === closeBrace) return '5m'
    if (byte === openBrace || byte === openBracket) return '1h'
    if (byte !== quote) continue
    const close = findPlainEnd(bytes, at + 1, end)
    if (close < 0) return '1h'
    if (isTtl(bytes, at + 1, close)) {
      at = skipToValue(bytes, close + 1, end)
      if (!isShort(bytes, at)) return '1h'
      at += bytes[at] === quote ? fiveMinutes.length - 1 : 0
    } else at = close
  }
  return '1h'
}

/** Returns the later of two lives. */
export function maxLife(a: CacheLife, b: CacheLife): CacheLife {
  if (a === '1h' || b === '1h') return '1h'
  return a === '5m' ? a : b
}

/** Returns the offset of the quote that closes a string without escapes; -1 for any other. */
function findPlainEnd(bytes: Uint8Array, start: number, end: number): number {
  for (let at = start; at < end; at++) {
    if (bytes[at] === quote) return at
    if (bytes[at] === backslash) return -1
  }
  return -1
}

function isTtl(bytes: Uint8Array, start: number, end: number): boolean {
  return end - start === 3 && matchName(bytes, { start, end }, ['ttl']) !== undefined
}

function skipToValue(bytes: Uint8Array, start: number, end: number): number {
  let at = start
  while (at < end && ((bytes[at] as number) <= space || bytes[at] === colon)) at++
  return at
}

/** True for `"5m"`, and for `null`, which leaves the choice to the vendor: five minutes. */
function isShort(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === letterN || fiveMinutes.every((byte, n) => bytes[at + n] === byte)
}

const fiveMinutes = new TextEncoder().encode('"5m"')

/** 1 for the first bytes of the keys of marks. */
const beginsMark = new Uint8Array(256)
for (const character of 'cC\\') beginsMark[character.charCodeAt(0)] = 1
