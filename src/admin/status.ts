import { toUsd } from '../core/money.ts'
import type { Clock } from '../core/ports.ts'
import { jsonReply, type Reply } from '../core/reply.ts'
import { unixSeconds } from '../core/unix-seconds.ts'
import { version } from '../core/version.ts'
import type { MinuteTotal, RecentRequests } from '../records/index.ts'
import type { AdminRoutes } from './input.ts'

/** The circuit of one link. */
export interface Circuit {
  readonly provider: string
  readonly model: string
  readonly state: string
}

export interface StatusRouteDeps {
  readonly clock: Clock
  readonly recent: Pick<RecentRequests, 'startedAt' | 'listMinutes' | 'findLastFailure'>
  readonly flushRecords: () => void
  readonly inFlight: () => number
  /** The circuits that have been used. */
  readonly circuits: () => Iterable<Circuit>
  /** The body of `GET /health/providers`. */
  readonly health: () => object
}

/** The read-only route of what happens now. */
export function statusRoutes(deps: StatusRouteDeps): AdminRoutes {
  return { '/admin/status': { GET: () => showStatus(deps) } }
}

function showStatus(deps: StatusRouteDeps): Reply {
  const { clock, recent, flushRecords, inFlight, circuits, health } = deps
  flushRecords()
  return jsonReply({
    version,
    started_at: recent.startedAt,
    now: unixSeconds(clock),
    in_flight: inFlight(),
    ...health(),
    circuits: Array.from(circuits(), ({ provider, model, state }) => ({
      provider,
      model,
      state,
      last_failure: recent.findLastFailure(provider, model) ?? null,
    })),
    minutes: recent.listMinutes().map(renderMinute),
  })
}

function renderMinute(total: MinuteTotal): object {
  return {
    starts_at: total.startsAt,
    requests_ok: total.ok,
    requests_client_error: total.clientErrors,
    requests_server_error: total.serverErrors,
    tokens_in: total.tokensIn,
    tokens_out: total.tokensOut,
    cost: toUsd(total.cost),
    latency_p50_ms: total.latencyP50 ?? null,
    latency_p95_ms: total.latencyP95 ?? null,
  }
}
