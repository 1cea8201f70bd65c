import type { Millis } from '../core/ids.ts'
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

/** A provider that has several credentials, and those of them that are parked. */
export interface CredentialPool {
  readonly provider: string
  readonly parked: readonly {
    readonly credential: string
    /** Undefined for all models. */
    readonly model: string | undefined
    readonly reason: string
    /** Undefined for until the next reload. */
    readonly remaining: Millis | undefined
  }[]
}

export interface StatusRouteDeps {
  readonly clock: Clock
  readonly recent: Pick<RecentRequests, 'startedAt' | 'listMinutes' | 'findLastFailure'>
  readonly flushRecords: () => void
  readonly inFlight: () => number
  /** The circuits that have been used. */
  readonly circuits: () => Iterable<Circuit>
  readonly pools: () => Iterable<CredentialPool>
  /** The body of `GET /health/providers`. */
  readonly health: () => object
}

/** The read-only route of what happens now. */
export function statusRoutes(deps: StatusRouteDeps): AdminRoutes {
  return { '/admin/status': { GET: () => showStatus(deps) } }
}

function showStatus(deps: StatusRouteDeps): Reply {
  const { clock, recent, flushRecords, inFlight, circuits, pools, health } = deps
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
    parked_credentials: Array.from(pools()).flatMap((pool) => renderParked(pool, clock)),
    minutes: recent.listMinutes().map(renderMinute),
  })
}

function renderParked({ provider, parked }: CredentialPool, clock: Clock): object[] {
  return parked.map(({ credential, model = null, reason, remaining }) => ({
    provider,
    credential,
    model,
    reason,
    until: remaining === undefined ? null : Math.ceil((clock.now() + remaining) / 1000),
  }))
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
