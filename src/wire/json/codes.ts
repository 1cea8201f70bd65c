/*
 * The codes of the characters that mean something in JSON. They are the same in UTF-8 bytes and in the code units
 * of a string.
 */

export const space = 0x20
export const quote = 0x22
export const plus = 0x2b
export const comma = 0x2c
export const minus = 0x2d
export const point = 0x2e
export const slash = 0x2f
export const zero = 0x30
export const colon = 0x3a
export const openBracket = 0x5b
export const backslash = 0x5c
export const closeBracket = 0x5d
export const letterE = 0x65
export const letterF = 0x66
export const letterN = 0x6e
export const letterO = 0x6f
export const letterT = 0x74
export const letterU = 0x75
export const openBrace = 0x7b
export const closeBrace = 0x7d

/** True for the white space of JSON. Takes `undefined` and NaN, which are read past an end. */
export function isSpace(code: number | undefined): boolean {
  return code === space || code === 0x0a || code === 0x0d || code === 0x09
}
