/** Encoding takes time with the square of a piece's length, so no piece is longer, in characters. */
const maxPieceLength = 256

/**
 * A text in pieces that can be encoded one by one. It is cut at the ends of words, where no token
 * reaches across, so the counts of the pieces add up to the count of the whole; only a run without
 * such a place is cut anywhere.
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

/** A letter, and after it something else of ASCII, but for the apostrophe, which belongs to its word. */
function endsWord(text: string, at: number): boolean {
  const next = text.charCodeAt(at)
  return next < 0x80 && next !== apostrophe && !isLetter(next) && isLetter(text.charCodeAt(at - 1))
}

const apostrophe = 0x27

/** A letter of ASCII. */
function isLetter(unit: number): boolean {
  // The bit that tells lower case from upper.
  const lower = unit | 0x20
  return lower >= 0x61 && lower <= 0x7a
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000
}
