import type { ByteSpan } from '../../core/layout.ts'
import { backslash, letterU } from './codes.ts'

/** A key that matches a name, exactly or in another letter case. */
export interface KeyMatch<Name extends string> {
  readonly name: Name
  readonly isExact: boolean
}

/**
 * Returns which of `names` the key of a JSON object matches, if any. Names consist of lower-case letters
 * and underscores. Keys may contain escapes (`mod\u0065l`), and the parsers of some upstreams accept
 * `Model` for `model`. `span` is the text between the quotes.
 */
export function matchName<Name extends string>(
  bytes: Uint8Array,
  span: ByteSpan,
  names: readonly Name[],
): KeyMatch<Name> | undefined {
  for (const name of names) {
    const spelling = compareKey(bytes, span, name)
    if (spelling !== 'other') return { name, isExact: spelling === 'exact' }
  }
  return undefined
}

/** Compares code unit by code unit without decoding, since a body may have any number of keys. */
function compareKey(
  bytes: Uint8Array,
  { start, end }: ByteSpan,
  name: string,
): 'exact' | 'in another case' | 'other' {
  let isExact = true
  let at = start
  for (let unit = 0; unit < name.length; unit++) {
    if (at >= end) return 'other'
    const wanted = name.charCodeAt(unit)
    let found = bytes[at] as number
    if (found === backslash) {
      found = readEscape(bytes, at)
      at += escapeLength
    } else if (found < 0x80) at++
    else {
      const letter = lettersBeyondAscii.find(({ form }) =>
        form.every((byte, n) => bytes[at + n] === byte),
      )
      if (!letter) return 'other'
      found = letter.unit
      at += letter.form.length
    }
    if (found === wanted) continue
    if (toLowerCase(found) !== wanted) return 'other'
    isExact = false
  }
  if (at !== end) return 'other'
  return isExact ? 'exact' : 'in another case'
}

/** Length of `\u006d`; letters and underscores have no shorter escape. */
const escapeLength = 6

function readEscape(bytes: Uint8Array, at: number): number {
  if (bytes[at + 1] !== letterU) return Number.NaN
  let unit = 0
  for (let digit = at + 2; digit < at + escapeLength; digit++) {
    unit = unit * 16 + parseHexDigit(bytes[digit] ?? 0)
  }
  return unit
}

/** Returns the value of a hexadecimal digit, or NaN. */
function parseHexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : Number.NaN
}

/** Characters outside ASCII that lower-case to ASCII letters: ſ to s, the Kelvin sign to k. */
const lettersBeyondAscii = [
  { unit: 0x17f, form: [0xc5, 0xbf], lowerCase: 0x73 },
  { unit: 0x212a, form: [0xe2, 0x84, 0xaa], lowerCase: 0x6b },
] as const

function toLowerCase(unit: number): number {
  if (unit < 0x80) return unit >= 0x41 && unit <= 0x5a ? unit + 0x20 : unit
  return lettersBeyondAscii.find((letter) => letter.unit === unit)?.lowerCase ?? unit
}
