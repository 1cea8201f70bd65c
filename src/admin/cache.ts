import { jsonReply } from '../core/reply.ts'
import type { AdminRouteDeps, AdminRoutes } from './input.ts'

export interface CacheRouteDeps extends AdminRouteDeps {
  /** Removes all answers from the cache, and returns how many they were. */
  readonly clear: () => Promise<number>
}

/** The route of the cache. It never shows an answer. */
export function cacheRoutes({ clear, audit }: CacheRouteDeps): AdminRoutes {
  return {
    '/admin/cache': {
      async DELETE({ context }) {
        const deleted = await clear()
        await audit.add(audit.describe({ action: 'cache.clear', subjectId: null }, context))
        return jsonReply({ deleted })
      },
    },
  }
}
