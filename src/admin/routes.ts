import type { Model } from '../core/provider.ts'
import { jsonReply } from '../core/reply.ts'
import type { Topic, Workers } from '../core/workers.ts'
import type { LinkReport, RouteReport, TargetReport } from '../routing/index.ts'
import { findWorseCircuit } from './circuit.ts'
import type { AdminRoutes } from './input.ts'

export interface RouteRouteDeps {
  readonly reportRoutes: () => readonly RouteReport[]
  /** The state of the circuit of a link. */
  readonly getCircuit: (link: Model) => string
  readonly workers: Workers
}

interface Link {
  readonly model: string
  readonly provider: string
  readonly circuit: string
  readonly in_flight: number
  readonly context_window: number | null
}

interface Target extends Link {
  readonly weight: number
  readonly ttft_ms: number | null
  readonly latency_ms: number | null
}

interface Case {
  readonly target: string
  readonly conditions: readonly string[]
}

interface Route {
  readonly id: string
  readonly strategy: string
  readonly affinity: 'off' | 'session' | 'prefix'
  readonly affinity_ttl_seconds: number | null
  readonly fallback_on: readonly string[] | null
  readonly cases: readonly Case[] | null
  readonly default: string | null
  readonly targets: readonly Target[]
  readonly fallbacks: readonly Link[]
}

const routesTopic: Topic<undefined, readonly Route[]> = { name: 'routes' }

/** The read-only route of the `[[routes]]` of the configuration. */
export function routeRoutes({ reportRoutes, getCircuit, workers }: RouteRouteDeps): AdminRoutes {
  const renderLink = ({ link, inFlight }: LinkReport): Link => ({
    model: link.id,
    provider: link.provider.name,
    circuit: getCircuit(link),
    in_flight: inFlight,
    context_window: link.contextWindow ?? null,
  })
  const renderTarget = (target: TargetReport): Target => ({
    ...renderLink(target),
    weight: target.weight,
    ttft_ms: renderPace(target.streams),
    latency_ms: renderPace(target.answers),
  })
  const renderRoute = ({ affinity, ...report }: RouteReport): Route => ({
    id: report.id,
    strategy: report.strategy,
    affinity: affinity.mode,
    affinity_ttl_seconds: affinity.mode === 'off' ? null : affinity.ttl / 1000,
    fallback_on: report.fallbackOn ?? null,
    cases: report.choices?.cases ?? null,
    default: report.choices?.otherwise ?? null,
    targets: report.targets.map(renderTarget),
    fallbacks: report.fallbacks.map(renderLink),
  })
  workers.answer(routesTopic, () => reportRoutes().map(renderRoute))
  const list = async () => {
    const reports = await workers.ask(routesTopic, undefined)
    return jsonReply({ routes: joinRoutes(reports) })
  }
  return { '/admin/routes': { GET: list } }
}

function renderPace(pace: TargetReport['answers']): number | null {
  return pace.kind === 'measured' ? Math.round(pace.average) : null
}

/** Joins the reports of all workers, which have the same routes. */
function joinRoutes([first = [], ...others]: readonly (readonly Route[])[]): readonly Route[] {
  return first.map((route, at) => {
    // During a reload a worker may have other routes for a moment.
    const same = others.flatMap((routes) => {
      const other = routes[at]
      return other?.id === route.id ? [other] : []
    })
    return {
      ...route,
      targets: route.targets.map((target, index) =>
        joinTargets([target, ...same.flatMap(({ targets }) => targets[index] ?? [])]),
      ),
      fallbacks: route.fallbacks.map((link, index) =>
        joinLinks([link, ...same.flatMap(({ fallbacks }) => fallbacks[index] ?? [])]),
      ),
    }
  })
}

function joinLinks<Joined extends Link>(links: readonly [Joined, ...Joined[]]): Joined {
  const [first] = links
  return {
    ...first,
    circuit: links.map(({ circuit }) => circuit).reduce(findWorseCircuit),
    in_flight: links.reduce((sum, { in_flight: count }) => sum + count, 0),
  }
}

function joinTargets(targets: readonly [Target, ...Target[]]): Target {
  return {
    ...joinLinks(targets),
    ttft_ms: averageKnown(targets.map(({ ttft_ms: time }) => time)),
    latency_ms: averageKnown(targets.map(({ latency_ms: time }) => time)),
  }
}

/** The average of the workers that have measured; null when none has. */
function averageKnown(times: readonly (number | null)[]): number | null {
  const known = times.filter((time) => time !== null)
  if (known.length === 0) return null
  return Math.round(known.reduce((sum, time) => sum + time, 0) / known.length)
}
