import { UpstreamFault } from '../core/failure.ts'
import type { ByteSource, Clock, UnreadBytes } from '../core/ports.ts'
import type { CancelScope } from '../wire/cancel-scope.ts'
import type { NumberForm } from '../wire/number-reader.ts'
import { TimeSlice } from '../wire/time-slice.ts'
import { type ScannedJson, VectorScanner } from '../wire/vector-scanner.ts'

/** Bytes: 2,048 vectors of 3,072 numbers, each on an indented line of its own, and to spare. */
export const longestEmbedAnswer = 256 * 1024 * 1024
/** A millisecond's work or two. */
const step = 128 * 1024

export interface Scanning {
  readonly form: NumberForm
  readonly scope: CancelScope
  readonly clock: Clock
  /** Counts what has been read. */
  readonly held: UnreadBytes
}

/** Reads an answer with vectors while it arrives, and lets others work in between. */
export async function scanAnswer(
  source: ByteSource,
  { form, scope, clock, held }: Scanning,
): Promise<ScannedJson> {
  const scanner = new VectorScanner(form)
  const pace = new TimeSlice(clock, scope)
  let length = 0
  for (;;) {
    const piece = await scope.race(source.read())
    if (piece === undefined) return scanner.end()
    length += piece.length
    held.add(piece.length)
    if (length > longestEmbedAnswer) {
      throw new UpstreamFault({ kind: 'malformed', detail: 'the answer is too long' })
    }
    for (let at = 0; at < piece.length; at += step) {
      scanner.push(piece.subarray(at, at + step))
      await pace.pause()
    }
  }
}
