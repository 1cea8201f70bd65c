import type { Provider } from '../core/provider.ts'
import type { Prober } from './prober.ts'

/** Creates the body of `GET /health/providers`. A provider that is not probed reads `unknown`. */
export function createHealthReport(providers: readonly Provider[], prober: Prober): object {
  return {
    providers: Object.fromEntries(
      providers.map((provider) => {
        const result = prober.getResult(provider)
        return [
          provider.name,
          {
            status: result?.status ?? 'unknown',
            checked_at: result?.checkedAt ?? null,
            latency_ms: result?.latency ?? null,
            detail: result?.detail ?? null,
          },
        ]
      }),
    ),
  }
}
