import { comma, zero } from './codes.ts'

/** Maximum length of a 31-bit number with its comma, in characters. */
const maxCharacters = 11

const decoder = new TextDecoder()

/**
 * Formats non-negative integers as a JSON array. For millions of them, `JSON.stringify` takes four times
 * as long and needs a plain array first.
 */
export function formatIntegerArray(numbers: Int32Array): string {
  const text = new Uint8Array(numbers.length * maxCharacters)
  let end = 0
  for (let at = 0; at < numbers.length; at++) {
    if (at > 0) text[end++] = comma
    let rest = numbers[at] as number
    let digits = 1
    for (let power = 10; rest >= power; power *= 10) digits++
    end += digits
    // Write the digits from last to first.
    for (let index = end - 1; digits > 0; digits--) {
      text[index--] = zero + (rest % 10)
      rest = Math.trunc(rest / 10)
    }
  }
  return `[${decoder.decode(text.subarray(0, end))}]`
}
