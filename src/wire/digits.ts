/*
 * Decimal digits in ASCII, four at a time: a little-endian word has the first of them lowest.
 */

const zero = 0x30

export function isDigit(byte: number): boolean {
  return byte >= zero && byte <= zero + 9
}

/** How many of the word's bytes are digits, up to the first one that is not. */
export function countDigits(word: number): number {
  // Of a digit nothing is left in the upper half of its byte, also when 6 is added.
  const values = word ^ 0x30303030
  const others = (values | (values + 0x06060606)) & 0xf0f0f0f0
  return others === 0 ? 4 : countTrailingZeros(others) >> 3
}

/** The number that the first `digits` bytes of a word spell; 0 to 4 digits. */
export function parseDigits(word: number, digits: number): number {
  // In two shifts, since one by 32 would be none. What moves in stands for leading zeros.
  const half = (4 - digits) << 2
  const values = ((word << half) << half) & 0x0f0f0f0f
  // Two digits to a pair, then two pairs to the number.
  const pairs = (Math.imul(values, 2561) >>> 8) & 0x00ff00ff
  return Math.imul(pairs, 6553601) >>> 16
}

function countTrailingZeros(bits: number): number {
  return 31 - Math.clz32(bits & -bits)
}
