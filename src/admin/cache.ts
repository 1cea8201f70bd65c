import { jsonReply } from '../core/reply.ts'
import type { Topic, Workers } from '../core/workers.ts'
import type { AdminRouteDeps, AdminRoutes } from './input.ts'

export interface CacheRouteDeps extends AdminRouteDeps {
  /** Removes all answers from the cache, and returns how many they were. */
  readonly clear: () => Promise<number>
  readonly workers: Workers
}

const clearTopic: Topic<undefined, number> = { name: 'clear-cache' }

/** The route of the cache. It never shows an answer. */
export function cacheRoutes({ clear, audit, workers }: CacheRouteDeps): AdminRoutes {
  workers.answer(clearTopic, clear)
  return {
    '/admin/cache': {
      async DELETE({ context }) {
        const counts = await workers.ask(clearTopic, undefined)
        const deleted = counts.reduce((sum, count) => sum + count, 0)
        await audit.add(audit.describe({ action: 'cache.clear', subjectId: null }, context))
        return jsonReply({ deleted })
      },
    },
  }
}
