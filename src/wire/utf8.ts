const encoder = new TextEncoder()

/** Counts the UTF-8 bytes of a string. A lone surrogate counts as the replacement character. */
export function countUtf8Bytes(text: string): number {
  // Native encoding is faster for long texts, the loop for short ones.
  if (text.length > 256) return encoder.encode(text).length
  let length = text.length
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit < 0x80) continue
    if (unit < 0x800) length++
    else if (unit >= 0xd800 && unit < 0xdc00 && isLowSurrogate(text.charCodeAt(at + 1))) {
      length += 2
      at++
    } else length += 2
  }
  return length
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000
}
