import type { Frame } from '../core/frame.ts'

/** `flatMap`, which is too slow for what is done for every word that streams by. */
export function flatMapFrames<Piece>(
  pieces: Iterable<Piece>,
  read: (piece: Piece) => readonly Frame[],
): Frame[] {
  const frames: Frame[] = []
  for (const piece of pieces) frames.push(...read(piece))
  return frames
}
