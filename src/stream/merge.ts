import type { Frame } from '../core/frame.ts'
import { concat } from '../wire/byte-list.ts'

/**
 * The bytes of the frames in order, as one piece, so that they cost the client's socket one write.
 * Frames that stand side by side in a network chunk, as verbatim ones mostly do, are handed on as
 * one view of it, without a copy.
 */
export function mergeBytes(frames: readonly Frame[]): Uint8Array {
  const first = frames[0]?.bytes ?? new Uint8Array(0)
  const length = frames.reduce((sum, { bytes }) => sum + bytes.length, 0)
  if (first.length === length) return first
  if (standSideBySide(frames)) return new Uint8Array(first.buffer, first.byteOffset, length)
  return concat(
    frames.map(({ bytes }) => bytes),
    length,
  )
}

function standSideBySide(frames: readonly Frame[]): boolean {
  const first = frames[0]?.bytes
  let next = first?.byteOffset
  return frames.every(({ bytes }) => {
    const follows = bytes.buffer === first?.buffer && bytes.byteOffset === next
    next = bytes.byteOffset + bytes.length
    return follows
  })
}
