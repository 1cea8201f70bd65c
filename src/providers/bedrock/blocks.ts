import type { JsonObject } from '../canonical/messages.ts'
import type { CacheMark } from '../claude/cache-marks.ts'

/** A piece of content as Converse has it. Members that are undefined do not reach the wire. */
export type Block = JsonObject

/** The cache point for a mark of the client's: a block of its own. */
export function cachePoint({ control: { ttl } }: CacheMark): Block {
  return { cachePoint: { type: 'default', ttl: ttl === '5m' || ttl === '1h' ? ttl : undefined } }
}
