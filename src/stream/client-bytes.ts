import type { Frame } from '../core/frame.ts'
import type { StageController, Transformer } from '../core/streams.ts'
import { concat } from '../wire/byte-list.ts'

/** Is notified at the end of a pipeline. Both methods may be called, and more than once. */
export interface ChainEnd {
  /** The last frame has passed. */
  onSent(): void
  /** The reader has left. */
  onCancel(): void
}

/** Joins the bytes of the frames of one network chunk, so that the socket gets a single write. */
export class ClientBytes implements Transformer<Frame[], Uint8Array> {
  readonly #end: ChainEnd

  constructor(end: ChainEnd) {
    this.#end = end
  }

  transform(frames: Frame[], out: StageController<Uint8Array>): void {
    const bytes = mergeBytes(frames)
    if (bytes.length > 0) out.enqueue(bytes)
    const last = frames.at(-1)?.kind
    if (last === 'done' || last === 'error') this.#end.onSent()
  }

  cancel(): void {
    this.#end.onCancel()
  }
}

/** Frames that are adjacent in memory, as verbatim frames usually are, are joined without a copy. */
function mergeBytes(frames: readonly Frame[]): Uint8Array {
  const first = frames[0]?.bytes ?? new Uint8Array(0)
  const length = frames.reduce((sum, { bytes }) => sum + bytes.length, 0)
  if (first.length === length) return first
  if (areAdjacent(frames)) return new Uint8Array(first.buffer, first.byteOffset, length)
  return concat(
    frames.map(({ bytes }) => bytes),
    length,
  )
}

function areAdjacent(frames: readonly Frame[]): boolean {
  const first = frames[0]?.bytes
  let next = first?.byteOffset
  return frames.every(({ bytes }) => {
    const follows = bytes.buffer === first?.buffer && bytes.byteOffset === next
    next = bytes.byteOffset + bytes.length
    return follows
  })
}
