import type { Model } from '../core/provider.ts'
import type { LinkQueue } from './rooms.ts'

/** Names a link, which a reload makes anew. */
export function toLinkKey({ id, provider }: Model): string {
  return JSON.stringify([provider.name, id])
}

/** Counts how many wait for each link. */
export function countByLink(links: Iterable<Model>): Iterable<LinkQueue> {
  const counts = new Map<string, LinkQueue>()
  for (const link of links) {
    const key = toLinkKey(link)
    const waiting = (counts.get(key)?.waiting ?? 0) + 1
    counts.set(key, { provider: link.provider.name, model: link.id, waiting })
  }
  return counts.values()
}
