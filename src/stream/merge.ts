import type { Frame } from '../core/frame.ts'

/**
 * The bytes of the frames in order. Frames that stand side by side in one network chunk, as they
 * mostly do, are handed on as one view of it, without a copy.
 */
export function mergeBytes(frames: readonly Frame[]): Uint8Array[] {
  const merged: Uint8Array[] = []
  for (let first = 0, next = 0; first < frames.length; first = next) {
    next = endOfRun(frames, first)
    const bytes = bytesOf(frames, first, next)
    if (bytes.length > 0) merged.push(bytes)
  }
  return merged
}

/** The first frame after `first` that does not stand right behind the one before it. */
function endOfRun(frames: readonly Frame[], first: number): number {
  let end = -1
  let buffer: ArrayBufferLike | undefined
  for (let at = first; at < frames.length; at++) {
    const bytes = frames[at]?.bytes ?? new Uint8Array(0)
    if (at > first && (bytes.buffer !== buffer || bytes.byteOffset !== end)) return at
    buffer = bytes.buffer
    end = bytes.byteOffset + bytes.length
  }
  return frames.length
}

function bytesOf(frames: readonly Frame[], first: number, next: number): Uint8Array {
  const head = frames[first]?.bytes ?? new Uint8Array(0)
  const tail = frames[next - 1]?.bytes ?? head
  if (head === tail) return head
  const length = tail.byteOffset + tail.length - head.byteOffset
  return new Uint8Array(head.buffer, head.byteOffset, length)
}
