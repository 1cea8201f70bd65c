import type { Raw } from '../openai/messages.ts'
import { isObject } from '../openai/usage.ts'

/** A piece of content as Converse has it. Members that are undefined do not reach the wire. */
export type Block = Raw

/** Told the path of everything that has no counterpart and is left out. */
export type Drop = (path: string) => void

/** The cache point for a `cache_control` of the client's: a block of its own, behind what it marks. */
export function cachePoints({ cache_control: mark }: Raw): Block[] {
  if (!isObject(mark)) return []
  const { ttl } = mark
  return [{ cachePoint: { type: 'default', ttl: ttl === '5m' || ttl === '1h' ? ttl : undefined } }]
}
