import type { Model } from '../core/provider.ts'

/** The headers that tell which link has served. */
export function servedBy({ id, provider }: Model): Record<string, string> {
  return { 'x-gateway-model-used': id, 'x-gateway-provider': provider.name }
}
