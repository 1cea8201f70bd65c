import { decodeBase64 } from './base64.ts'

/*
 * Vectors in the format of OpenAI's `encoding_format: "base64"`: float32, little-endian on every host.
 */

/** Decodes such a text. Returns undefined when it is not base64 of finite float32 values. */
export function decodeFloats(base64: string): Float32Array | undefined {
  const bytes = decodeBase64(base64)
  if (!bytes || bytes.length === 0 || bytes.length % 4 !== 0) return undefined
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const floats = new Float32Array(bytes.length / 4)
  for (let index = 0; index < floats.length; index++) {
    const value = view.getFloat32(index * 4, true)
    if (!Number.isFinite(value)) return undefined
    floats[index] = value
  }
  return floats
}

/** Returns the numbers as little-endian bytes. */
export function encodeFloats(floats: Float32Array): Uint8Array {
  const view = new DataView(new ArrayBuffer(floats.length * 4))
  for (const [index, value] of floats.entries()) view.setFloat32(index * 4, value, true)
  return new Uint8Array(view.buffer)
}
