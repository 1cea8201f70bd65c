import type { Notes } from './litellm-notes.ts'

/** Limits in seconds, by the names of LiteLLM. */
export interface Timeouts {
  /** Of a whole call. */
  readonly timeout?: number | null | undefined
  /** Until the first content of a stream. */
  readonly stream_timeout?: number | null | undefined
}

interface TimeoutContext {
  /** What holds for a limit that is absent. */
  readonly fallback?: Timeouts
  /** What precedes the names in notes. */
  readonly place: string
  readonly notes: Notes
}

/**
 * Returns the limit in milliseconds for whole answers and for the first content of streams, which is one setting here.
 * Undefined when the table sets neither. Of two limits the longer one is taken: what is served today must not end early.
 */
export function readTimeout(
  own: Timeouts,
  { fallback = {}, place, notes }: TimeoutContext,
): number | undefined {
  if (own.timeout == null && own.stream_timeout == null) return undefined
  const whole = own.timeout ?? fallback.timeout
  const first = own.stream_timeout ?? fallback.stream_timeout
  const longer = Math.max(whole ?? 0, first ?? 0)
  if (own.stream_timeout != null && whole == null) {
    notes.next.push(`${place}stream_timeout: holds for whole answers too`)
  } else if (whole != null && first != null && whole !== first) {
    const name = whole > first ? 'stream_timeout' : 'timeout'
    const setting = own[name] == null ? `${place}${name}, which router_settings has` : place + name
    notes.left.push(
      `${setting}: whole answers and the first content of streams have one limit; ${longer} s, the longer one, is written`,
    )
  }
  return Math.max(1, Math.round(longer * 1_000))
}

/** The longest time that a request may take by default, with all its retries. */
const defaultTotal = 600_000

/** A limit beyond the default of the whole request needs a longer one there, too. */
export function readTotal(timeout: number | undefined): number | undefined {
  return timeout !== undefined && timeout > defaultTotal ? timeout : undefined
}
