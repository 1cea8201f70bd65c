import type * as z from 'zod'
import { validateAsSent } from '../core/as-sent.ts'
import { type MatchOptions, matchJsonBody } from '../wire/json/body.ts'
import type { JsonMatch } from '../wire/json/match.ts'

interface RequestMatchOptions<Name extends string, Head> extends MatchOptions<Name> {
  /** Of the short members. */
  readonly schema: z.ZodType<Head>
}

/** A request that was not parsed, and its short members. */
export interface MatchedRequest<Name extends string, Head> extends Omit<JsonMatch<Name>, 'head'> {
  readonly head: Head
}

/** Reads a request in its bytes; undefined when only parsing it can tell what it is. */
export function matchRequest<Name extends string, Head>(
  bytes: Uint8Array,
  options: RequestMatchOptions<Name, Head>,
): MatchedRequest<Name, Head> | undefined {
  const match = matchJsonBody(bytes, options)
  if (!match) return undefined
  const { layout, tallies } = match
  const checked = validateAsSent(options.schema, match.head)
  return checked.success ? { layout, tallies, head: checked.data } : undefined
}
