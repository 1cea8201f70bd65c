import { UpstreamFault } from '../../core/failure.ts'
import type { ByteSource, Clock, UnreadBytes } from '../../core/ports.ts'
import type { ByteList } from '../../wire/byte-list.ts'
import type { CancelScope } from '../../wire/cancel-scope.ts'
import type { NumberForm } from '../../wire/json/number-reader.ts'
import { type ScannedJson, VectorScanner } from '../../wire/json/vector-scanner.ts'
import { TimeSlice } from '../../wire/time-slice.ts'

/** Room for 2,048 vectors of 3,072 numbers, each number on an indented line of its own. */
export const maxEmbedAnswerBytes = 256 * 1024 * 1024
/** Bytes that take one or two milliseconds to scan. */
const stepBytes = 128 * 1024

export interface AnswerScanOptions {
  readonly form: NumberForm
  readonly scope: CancelScope
  readonly clock: Clock
  /** Counts the bytes that have been read. */
  readonly held: UnreadBytes
  /** Keeps the bytes themselves. */
  readonly kept?: ByteList
}

/** Scans an answer with vectors while it arrives, and yields to other work in between. */
export async function scanAnswer(
  source: ByteSource,
  { form, scope, clock, held, kept }: AnswerScanOptions,
): Promise<ScannedJson> {
  const scanner = new VectorScanner(form)
  const slice = new TimeSlice(clock, scope)
  let length = 0
  for (;;) {
    const piece = await scope.race(source.read())
    if (piece === undefined) return scanner.end()
    length += piece.length
    held.add(piece.length)
    kept?.push(piece)
    if (length > maxEmbedAnswerBytes) {
      throw new UpstreamFault({ kind: 'malformed', detail: 'the answer is too long' })
    }
    for (let at = 0; at < piece.length; at += stepBytes) {
      scanner.push(piece.subarray(at, at + stepBytes))
      await slice.pause()
    }
  }
}
