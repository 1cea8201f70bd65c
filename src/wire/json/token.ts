import type { ByteSpan } from '../../core/layout.ts'
import { letterE, minus, plus, point, zero } from './codes.ts'
import { isDigit } from './digits.ts'

const invalid = -1

/** Returns the offset behind the JSON number at `start`; -1 if there is none. */
export function findNumberEnd(bytes: Uint8Array, start: number): number {
  let at = bytes[start] === minus ? start + 1 : start
  at = bytes[at] === zero ? at + 1 : skipDigits(bytes, at)
  if (at >= 0 && bytes[at] === point) at = skipDigits(bytes, at + 1)
  if (at >= 0 && ((bytes[at] ?? 0) | 0x20) === letterE) {
    const sign = bytes[at + 1]
    at = skipDigits(bytes, sign === plus || sign === minus ? at + 2 : at + 1)
  }
  return at
}

/** Returns the offset behind one or more digits; -1 if there are none. */
function skipDigits(bytes: Uint8Array, start: number): number {
  let at = start
  while (at < bytes.length && isDigit(bytes[at] as number)) at++
  return at === start ? invalid : at
}

/** Returns the offset behind `word` at `start`; -1 if another text is there. */
export function findWordEnd(bytes: Uint8Array, start: number, word: Uint8Array): number {
  const end = start + word.length
  if (end > bytes.length) return invalid
  for (let n = 0; n < word.length; n++) if (bytes[start + n] !== word[n]) return invalid
  return end
}

/** A whole number of fewer digits is written as it is. */
const maxPlainDigits = 15

/** Counts the bytes that `JSON.stringify` writes for a number. */
export function countNumberBytes(bytes: Uint8Array, { start, end }: ByteSpan): number {
  const number = bytes.subarray(start, end)
  const isPlain = number.length <= maxPlainDigits && number[0] !== zero && number.every(isDigit)
  return isPlain ? number.length : JSON.stringify(Number(decoder.decode(number))).length
}

const decoder = new TextDecoder()
