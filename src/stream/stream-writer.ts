import type { GatewayError } from '../core/errors.ts'
import type { Frame } from '../core/frame.ts'
import type { Usage } from '../core/usage.ts'

/** The usage of a complete stream. */
export interface FinalUsage {
  readonly usage: Usage
  /** The object in which the upstream reported it, where that has the form of the client's stream. */
  readonly members?: Readonly<Record<string, unknown>> | undefined
  /** The bytes of the upstream's frames hold this usage, in the form that the client expects. */
  readonly isInBytes: boolean
}

/**
 * The last bytes of a stream. An end that repeats a long answer is written in pieces, between which other work
 * may be done.
 */
export type LastBytes = Uint8Array | Generator<Uint8Array>

/**
 * Writes the bytes that the client of one stream gets, in the API of the client. Its methods are called
 * in the order of the stream; after `complete` or `fail` none is called.
 */
export interface StreamWriter {
  /** The connection is cut behind a failure, because clients of this API take any other end for a complete one. */
  readonly cutsFailures?: boolean
  /**
   * Writes a frame of the kind `content` or `quiet`. May return no bytes. Throws `UpstreamFault` when it
   * cannot go on; the stream then fails.
   */
  write(frame: Frame): Uint8Array
  /** Writes a sign of life, for a stream that has been silent. */
  ping(): Uint8Array
  /** Writes the end of a complete stream. `last` is the terminator of the upstream. */
  complete(last: Frame, usage: FinalUsage): LastBytes
  /** Writes the end of a stream that failed after its first content. */
  fail(error: GatewayError): LastBytes
}
