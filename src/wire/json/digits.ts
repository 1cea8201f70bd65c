import { zero } from './codes.ts'

/*
 * Parses ASCII decimal digits four at a time (SIMD within a register). In a little-endian word the first
 * digit is the lowest byte. The method, there for eight digits:
 * https://lemire.me/blog/2022/01/21/swar-explained-parsing-eight-digits/
 */

/** True for an ASCII digit. */
export function isDigit(byte: number): boolean {
  return byte >= zero && byte <= zero + 9
}

/** Counts the leading bytes of a word that are digits. */
export function countDigits(word: number): number {
  // XOR turns a digit into its value; its upper four bits stay 0 even after adding 6.
  const values = word ^ 0x30303030
  const others = (values | (values + 0x06060606)) & 0xf0f0f0f0
  return others === 0 ? 4 : countTrailingZeros(others) >> 3
}

/** Returns the number in the first `digits` bytes of a word, 0 to 4. */
export function parseDigits(word: number, digits: number): number {
  // Two shifts, because a shift by 32 does nothing. The bytes shifted in act as leading zeros.
  const half = (4 - digits) << 2
  const values = ((word << half) << half) & 0x0f0f0f0f
  // 2561 = 10 * 2**8 + 1 makes two-digit pairs: 10 * first + second.
  const pairs = (Math.imul(values, 2561) >>> 8) & 0x00ff00ff
  // 6553601 = 100 * 2**16 + 1 joins the pairs: 100 * first + second.
  return Math.imul(pairs, 6553601) >>> 16
}

function countTrailingZeros(bits: number): number {
  return 31 - Math.clz32(bits & -bits)
}
