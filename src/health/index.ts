import type { Provider } from '../core/provider.ts'

/** The body of `GET /health/providers`. Nothing is known of a provider that was never probed. */
export function healthReport(providers: readonly Provider[]): object {
  const unknown = { status: 'unknown', checked_at: null, latency_ms: null, detail: null }
  return { providers: Object.fromEntries(providers.map(({ name }) => [name, unknown])) }
}
