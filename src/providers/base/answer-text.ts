import type { AnswerBody } from '../../core/endpoints.ts'
import type { AsciiText, BufferedBody } from '../../core/ports.ts'

/** Returns an answer as text when that has the same bytes, and as bytes otherwise. Hosts send text faster. */
export function asTextIfEqual({ text, bytes }: AnswerBody): BufferedBody {
  // Equal lengths mean one character per byte, so ASCII, or invalid UTF-8 that decoding replaced.
  return text.length === bytes.length && !text.includes('\ufffd') ? (text as AsciiText) : bytes
}
