import type { UpstreamFailure } from './failure.ts'
import type { ReportedUsage } from './usage.ts'

/** The identity that every chunk of one stream shares. */
export interface StreamIdentity {
  readonly id: string
  readonly created: number
  readonly model: string
}

/** The part of its stream's identity that one chunk holds. */
export type ChunkIdentity = {
  readonly [Field in keyof StreamIdentity]: StreamIdentity[Field] | undefined
}

/** Merges two identities. The fields of the later chunk win. */
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

/** One of the `choices` of a chunk or an answer, as the OpenAI API has them. Its members are not checked. */
export type RawChoice = Readonly<Record<string, unknown>>

/**
 * One whole server-sent event, or a few that belong together: the bytes for the client, and the facts
 * that the pipeline needs. A dialect parses the bytes once; no later stage parses them again.
 */
export interface Frame {
  /** The bytes for the client, blank lines included. */
  readonly bytes: Uint8Array
  /** How many bytes of the upstream the client does not get; absent where it gets all, or others in their place. */
  readonly droppedBytes?: number | undefined
  /** `content` commits the stream; `done` and `error` end it; `quiet` and `ping` do neither. */
  readonly kind: 'content' | 'quiet' | 'ping' | 'done' | 'error'
  /** Why an `error` frame ends the stream. */
  readonly failure?: UpstreamFailure | undefined
  /** The failure is one of the answer itself: the vendor bills its `usage`, also before the first content. */
  readonly isBilled?: true
  /** A choice ends here by the vendor's content filter; the frame has no content. */
  readonly isFiltered?: boolean | undefined
  /** The latest usage the upstream has reported. */
  readonly usage?: ReportedUsage | undefined
  /** True when the client must get that usage and `bytes` does not contain it. */
  readonly hasUnsentUsage?: boolean | undefined
  readonly identity?: ChunkIdentity | undefined
  /** The choices in `bytes`, for writers of other APIs than chat; absent where they hold nothing new. */
  readonly choices?: readonly RawChoice[] | undefined
  /** The generated text in this frame, of all choices; absent where there is none. */
  readonly output?: string | undefined
  /** UTF-8 bytes of that text, for the estimate. */
  readonly outputBytes: number
  /** How many of the choices that have begun have also ended; absent while none has. */
  readonly finished?: 'some' | 'all' | undefined
}

/** Decodes an upstream's bytes into frames. Each stream has its own decoder. */
export interface FrameDecoder {
  /** Returns the frames that these bytes complete. Throws `UpstreamFault` for bytes it cannot parse. */
  push(bytes: Uint8Array): Frame[]
  /**
   * Returns the frames left after the last complete one, at a clean end of the body. Those that take long to
   * make are made one after the other.
   */
  end(): Iterable<Frame>
  /**
   * Returns the frames left when the connection was lost. The stream of an upstream without a
   * terminator may have been complete by then. Absent where no frames can be left.
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
