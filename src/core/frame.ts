import type { UpstreamFailure } from './failure.ts'
import type { ReportedUsage } from './usage.ts'

/** The identity that every chunk of one stream shares. */
export interface StreamIdentity {
  readonly id: string
  readonly created: number
  readonly model: string
}

/** What one chunk says of its stream's identity. */
export type ChunkIdentity = {
  readonly [Field in keyof StreamIdentity]: StreamIdentity[Field] | undefined
}

/** Each field as the later chunk has it, else as the earlier one. */
export function mergeIdentity(
  known: ChunkIdentity,
  { id, created, model }: ChunkIdentity,
): ChunkIdentity {
  if (id === known.id && created === known.created && model === known.model) return known
  return {
    id: id ?? known.id,
    created: created ?? known.created,
    model: model ?? known.model,
  }
}

/**
 * A whole server-sent event, or a few that belong together: the bytes the client will get, and what
 * the pipeline must know of them. A dialect fills this in once; no later stage looks into the bytes
 * again.
 */
export interface Frame {
  /** As it goes to the client, blank lines included. */
  readonly bytes: Uint8Array
  /** `content` commits the stream; `quiet` is all else that passes; `done` and `error` end it. */
  readonly kind: 'content' | 'quiet' | 'done' | 'error'
  /** Why an `error` frame ends the stream. */
  readonly failure?: UpstreamFailure | undefined
  /** The latest usage the upstream has reported. */
  readonly usage?: ReportedUsage | undefined
  /** True when the client is to get that usage and does not find it in `bytes`. */
  readonly hasUnsentUsage?: boolean | undefined
  readonly identity?: ChunkIdentity | undefined
  /** The generated text in this frame, of all choices; absent where there is none. */
  readonly output?: string | undefined
  /** UTF-8 bytes of that text, for the estimate. */
  readonly outputBytes: number
  /** How many of the choices that have begun by now have also ended; absent while none has. */
  readonly finished?: 'some' | 'all' | undefined
}

/** Turns an upstream's bytes into frames. Pure state: one decoder a stream. */
export interface FrameDecoder {
  /** The frames that these bytes complete. Throws `UpstreamFault` when they cannot be understood. */
  push(bytes: Uint8Array): Frame[]
  /** What stands after the last complete frame, at a clean end of the body. */
  end(): Frame[]
  /**
   * What stands there when the body broke off: the end of a stream that had said everything, of an
   * upstream which has no terminator and so is complete before its body ends. Absent: nothing.
   */
  breakOff?(): Frame[]
}

/** Maps pieces to frames. A loop in place of `flatMap`, which is too slow to run once per token. */
export function flatMapFrames<Piece>(
  pieces: Iterable<Piece>,
  read: (piece: Piece) => readonly Frame[],
): Frame[] {
  const frames: Frame[] = []
  for (const piece of pieces) frames.push(...read(piece))
  return frames
}
