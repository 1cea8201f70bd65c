import type { Frame } from '../core/frame.ts'

/**
 * The bytes of the frames in order. Frames that stand side by side in one network chunk, as they
 * mostly do, are handed on as one view of it, without a copy.
 */
export function mergeBytes(frames: readonly Frame[]): Uint8Array[] {
  const merged: Uint8Array[] = []
  for (const { bytes } of frames) {
    const last = merged.at(-1)
    if (
      last &&
      last.buffer === bytes.buffer &&
      last.byteOffset + last.length === bytes.byteOffset
    ) {
      merged[merged.length - 1] = new Uint8Array(
        last.buffer,
        last.byteOffset,
        last.length + bytes.length,
      )
    } else if (bytes.length > 0) merged.push(bytes)
  }
  return merged
}
