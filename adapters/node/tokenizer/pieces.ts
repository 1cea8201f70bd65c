/** Maximum length of a piece in characters. Encoding time grows with the square of the length. */
const maxPieceLength = 256

/**
 * Splits a text into pieces to encode one by one. Cuts are at the ends of words, which no token crosses,
 * so the counts of the pieces add up to the count of the whole. A long run without a word end is cut
 * anywhere.
 */
export function* splitText(text: string): Generator<string> {
  let start = 0
  while (text.length - start > maxPieceLength) {
    const end = findCut(text, start)
    yield text.slice(start, end)
    start = end
  }
  if (start < text.length) yield text.slice(start)
}

function findCut(text: string, start: number): number {
  for (let at = start + maxPieceLength; at > start; at--) if (endsWord(text, at)) return at
  const end = start + maxPieceLength
  return isLowSurrogate(text.charCodeAt(end)) ? end - 1 : end
}

/** True between a letter and another ASCII character, except an apostrophe, which belongs to the word. */
function endsWord(text: string, at: number): boolean {
  const next = text.charCodeAt(at)
  return next < 0x80 && next !== apostrophe && !isLetter(next) && isLetter(text.charCodeAt(at - 1))
}

const apostrophe = 0x27

/** True for an ASCII letter. */
function isLetter(unit: number): boolean {
  // Bit 5 distinguishes lower case from upper case.
  const lower = unit | 0x20
  return lower >= 0x61 && lower <= 0x7a
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000
}
