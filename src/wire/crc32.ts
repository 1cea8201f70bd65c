/** Computes the CRC-32 of zlib (reflected polynomial EDB88320), with the slicing-by-4 method. */
export function crc32(bytes: Uint8Array): number {
  let crc = -1
  let at = 0
  // Four bytes per step: the lookups of one step do not depend on each other.
  for (; at + 4 <= bytes.length; at += 4) {
    crc ^= readUint32(bytes, at)
    crc = lookUp(3, crc) ^ lookUp(2, crc >>> 8) ^ lookUp(1, crc >>> 16) ^ lookUp(0, crc >>> 24)
  }
  for (; at < bytes.length; at++) crc = lookUp(0, crc ^ byteAt(bytes, at)) ^ (crc >>> 8)
  return ~crc >>> 0
}

function readUint32(bytes: Uint8Array, at: number): number {
  const low = byteAt(bytes, at) | (byteAt(bytes, at + 1) << 8)
  return low | (byteAt(bytes, at + 2) << 16) | (byteAt(bytes, at + 3) << 24)
}

function byteAt(bytes: Uint8Array, at: number): number {
  // The loops stay within the array.
  return bytes[at] as number
}

/** The effect of a byte followed by 0 to 3 zero bytes on the checksum: 256 entries for each number. */
const table = new Int32Array(4 * 256)

for (let byte = 0; byte < 256; byte++) {
  let value = byte
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1
  table[byte] = value
}
for (let at = 256; at < table.length; at++) {
  // The finished entry of the same byte with one zero less.
  const before = table[at - 256] as number
  table[at] = lookUp(0, before) ^ (before >>> 8)
}

function lookUp(zeros: number, byte: number): number {
  // The index is always within the table.
  return table[zeros * 256 + (byte & 0xff)] as number
}
