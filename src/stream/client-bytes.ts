import type { Frame } from '../core/frame.ts'
import type { StageController, Transformer } from '../core/streams.ts'
import { concat } from '../wire/byte-list.ts'

/** Learns of the end of a chain: either of them may be called, and more than once. */
export interface ChainEnd {
  /** The last frame has gone out. */
  sent(): void
  /** The reader has left. */
  left(): void
}

/** The bytes of frames, those of one network chunk as one piece: it costs the client's socket one write. */
export class ClientBytes implements Transformer<Frame[], Uint8Array> {
  readonly #end: ChainEnd

  constructor(end: ChainEnd) {
    this.#end = end
  }

  transform(frames: Frame[], out: StageController<Uint8Array>): void {
    const bytes = mergeBytes(frames)
    if (bytes.length > 0) out.enqueue(bytes)
    const last = frames.at(-1)?.kind
    if (last === 'done' || last === 'error') this.#end.sent()
  }

  cancel(): void {
    this.#end.left()
  }
}

/** Frames that stand side by side in memory, as verbatim ones mostly do, are one view, not a copy. */
function mergeBytes(frames: readonly Frame[]): Uint8Array {
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
