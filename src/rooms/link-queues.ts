import type { Model } from '../core/provider.ts'
import type { LinkQueue } from './rooms.ts'

/** Counts how many wait for each link. */
export function countByLink(links: Iterable<Model>): Iterable<LinkQueue> {
  const counts = new Map<string, LinkQueue>()
  for (const { id: model, provider } of links) {
    const key = JSON.stringify([provider.name, model])
    const waiting = (counts.get(key)?.waiting ?? 0) + 1
    counts.set(key, { provider: provider.name, model, waiting })
  }
  return counts.values()
}
