import type { Model } from '../core/provider.ts'
import { jsonReply } from '../core/reply.ts'
import type { LinkReport, RouteReport, TargetReport } from '../routing/index.ts'
import type { AdminRoutes } from './input.ts'

export interface RouteRouteDeps {
  readonly reportRoutes: () => readonly RouteReport[]
  /** The state of the circuit of a link. */
  readonly getCircuit: (link: Model) => string
}

/** The read-only route of the `[[routes]]` of the configuration. */
export function routeRoutes({ reportRoutes, getCircuit }: RouteRouteDeps): AdminRoutes {
  const renderLink = ({ link, inFlight }: LinkReport) => ({
    model: link.id,
    provider: link.provider.name,
    circuit: getCircuit(link),
    in_flight: inFlight,
  })
  const renderTarget = (target: TargetReport) => ({
    ...renderLink(target),
    weight: target.weight,
    ttft_ms: renderPace(target.streams),
    latency_ms: renderPace(target.answers),
  })
  const renderRoute = ({ id, strategy, targets, fallbacks }: RouteReport) => ({
    id,
    strategy,
    targets: targets.map(renderTarget),
    fallbacks: fallbacks.map(renderLink),
  })
  const list = () => jsonReply({ routes: reportRoutes().map(renderRoute) })
  return { '/admin/routes': { GET: list } }
}

function renderPace(pace: TargetReport['answers']): number | null {
  return pace.kind === 'measured' ? Math.round(pace.average) : null
}
