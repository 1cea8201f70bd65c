import type { OpenSharedState } from '../../../src/index.ts'

/** Connects to a Redis or Valkey server. The client is loaded only when a configuration names one. */
export const openNodeSharedState: OpenSharedState = async (settings) => {
  const { openRedisState } = await import('../shared/redis-state.ts')
  return openRedisState(settings)
}
