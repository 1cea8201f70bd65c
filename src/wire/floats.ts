/*
 * Vectors as OpenAI writes them under `encoding_format: "base64"`: float32, little-endian whatever
 * the host's byte order, in the standard alphabet with padding.
 */

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const padding = 0x3d

/** The two signs of every twelve bits, the first one in the upper byte. */
const pairs = Uint16Array.from(
  { length: 4096 },
  (_, bits) => (alphabet.charCodeAt(bits >> 6) << 8) | alphabet.charCodeAt(bits & 63),
)

/** The length of so many bytes in base64. */
export function base64Length(bytes: number): number {
  return Math.ceil(bytes / 3) * 4
}

/**
 * Writes `bytes` as base64 into `target` from `at` on, and returns where it ends: straight into an
 * answer's bytes, since a string would be a copy too many.
 */
export function writeBase64(bytes: Uint8Array, target: Uint8Array, at: number): number {
  const rest = bytes.length % 3
  const whole = bytes.length - rest
  let to = at
  for (let from = 0; from < whole; from += 3) {
    const middle = byteAt(bytes, from + 1)
    const first = pairOf((byteAt(bytes, from) << 4) | (middle >> 4))
    const second = pairOf(((middle & 15) << 8) | byteAt(bytes, from + 2))
    target[to] = first >> 8
    target[to + 1] = first & 255
    target[to + 2] = second >> 8
    target[to + 3] = second & 255
    to += 4
  }
  if (rest === 0) return to
  const middle = rest === 2 ? byteAt(bytes, whole + 1) : 0
  const first = pairOf((byteAt(bytes, whole) << 4) | (middle >> 4))
  target[to] = first >> 8
  target[to + 1] = first & 255
  target[to + 2] = rest === 2 ? pairOf((middle & 15) << 8) >> 8 : padding
  target[to + 3] = padding
  return to + 4
}

/** The numbers of such a text; undefined when it holds no float32 values, or one that is not finite. */
export function readFloats(base64: string): Float32Array | undefined {
  let bytes: string
  try {
    bytes = atob(base64)
  } catch {
    return undefined
  }
  if (bytes.length === 0 || bytes.length % 4 !== 0) return undefined
  const buffer = new DataView(new ArrayBuffer(bytes.length))
  for (let at = 0; at < bytes.length; at++) buffer.setUint8(at, bytes.charCodeAt(at))
  const floats = Float32Array.from({ length: bytes.length / 4 }, (_, index) =>
    buffer.getFloat32(index * 4, true),
  )
  return floats.every(Number.isFinite) ? floats : undefined
}

/** The little-endian bytes of these numbers. */
export function floatBytes(floats: Float32Array): Uint8Array {
  const view = new DataView(new ArrayBuffer(floats.length * 4))
  for (const [index, value] of floats.entries()) view.setFloat32(index * 4, value, true)
  return new Uint8Array(view.buffer)
}

/** A byte that is known to be there. */
function byteAt(bytes: Uint8Array, index: number): number {
  return bytes[index] as number
}

function pairOf(bits: number): number {
  return pairs[bits] as number
}
