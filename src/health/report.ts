import type { Provider } from '../core/provider.ts'
import type { Topic } from '../core/workers.ts'
import type { Prober } from './prober.ts'

/** The body of `GET /health/providers`. */
export interface HealthReport {
  readonly providers: Readonly<Record<string, ProviderHealth>>
}

interface ProviderHealth {
  /** `unknown` when the provider is not probed. */
  readonly status: 'down' | 'up' | 'unknown'
  readonly checked_at: number | null
  readonly latency_ms: number | null
  readonly detail: string | null
}

export const healthTopic: Topic<undefined, HealthReport> = { name: 'health' }

/** Reports what one process knows. */
export function createHealthReport(providers: readonly Provider[], prober: Prober): HealthReport {
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

/** The worst first. */
const statuses = ['down', 'up', 'unknown'] as const

/** Joins the reports of all workers: a provider is down when one of them cannot reach it. */
export function mergeHealthReports(reports: readonly HealthReport[]): HealthReport {
  const providers: Record<string, ProviderHealth> = {}
  for (const [name, health] of reports.flatMap((report) => Object.entries(report.providers))) {
    const known = providers[name]
    const isWorse =
      known === undefined || statuses.indexOf(health.status) < statuses.indexOf(known.status)
    if (isWorse) providers[name] = health
  }
  return { providers }
}
