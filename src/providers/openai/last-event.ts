import { tryParseJson } from '../../wire/json/parse.ts'
import type { RawEvent } from '../../wire/sse.ts'

/**
 * Adds the blank line that the last event of a body may lack. A truncated event is dropped: a client
 * would read it as malformed JSON and miss the error that follows.
 */
export function closeLastEvent(event: RawEvent): RawEvent[] {
  if (event.closed) return [event]
  const { data, bytes } = event
  if (data === undefined) return []
  const isWhole =
    data.startsWith('[DONE]') || event.event === 'error' || tryParseJson(data) !== undefined
  if (!isWhole) return []
  const missing = bytes.at(-1) === lf ? 1 : 2
  const closed = new Uint8Array(bytes.length + missing).fill(lf)
  closed.set(bytes)
  return [{ ...event, bytes: closed }]
}

const lf = 0x0a
