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

/** Returns true if the bytes are valid UTF-8, for hosts without a native check. */
export function isUtf8(bytes: Uint8Array): boolean {
  for (let at = 0; at < bytes.length; ) {
    const lead = bytes[at++] as number
    if (lead < 0x80) continue
    if (lead < 0xc2 || lead > 0xf4) return false
    const second = bytes[at++] ?? 0
    if (second < minSecond(lead) || second > maxSecond(lead)) return false
    if (lead >= 0xe0 && !isContinuation(bytes[at++])) return false
    if (lead >= 0xf0 && !isContinuation(bytes[at++])) return false
  }
  return true
}

/** Excludes longer forms than needed. */
function minSecond(lead: number): number {
  if (lead === 0xe0) return 0xa0
  return lead === 0xf0 ? 0x90 : 0x80
}

/** Excludes surrogates, and code points above U+10FFFF. */
function maxSecond(lead: number): number {
  if (lead === 0xed) return 0x9f
  return lead === 0xf4 ? 0x8f : 0xbf
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80
}
