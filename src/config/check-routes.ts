import { capabilities as allCapabilities, type Capability } from '../core/capability.ts'
import { indexModels, type KnownModels } from './known-models.ts'
import type { LenientConfig, LenientModel, LenientRoute } from './lenient.ts'
import { type Finding, type Path, quoteName } from './problem.ts'

/**
 * Checks that the targets and fallbacks of every route are models, that the targets share a capability
 * which all fallbacks have, and that one of them has a weight. Those of a switch are checked in `check-switches.ts`.
 */
export function* checkRoutes({ providers, routes }: LenientConfig): Generator<Finding> {
  const known = indexModels(providers, routes)
  for (const [i, route] of routes.entries()) {
    if (route.strategy === 'switch') continue
    const path = ['routes', i]
    yield* checkTargets(path, route, known)
    yield* checkFallbacks(path, route, known)
  }
}

function* checkTargets(path: Path, route: LenientRoute, known: KnownModels): Generator<Finding> {
  const seen = new Set<string>()
  for (const [t, { model }] of (route.targets ?? []).entries()) {
    if (model === undefined) continue
    const place = [...path, 'targets', t, 'model']
    const problem = known.explain(model, 'a target')
    if (problem) yield { path: place, ...problem }
    else if (seen.has(model)) yield { path: place, message: 'is listed twice' }
    seen.add(model)
  }
  const targets = route.targets ?? []
  if (targets.length > 0 && targets.every(({ weight }) => weight === 0)) {
    const message = 'must have a target with a weight above 0'
    yield { path: [...path, 'targets'], message }
  }
  if (findShared(route, known)?.length === 0) {
    const message = `the targets share no capability: ${describeTargets(route, known)}`
    yield { path: [...path, 'targets'], message }
  }
}

function* checkFallbacks(path: Path, route: LenientRoute, known: KnownModels): Generator<Finding> {
  const shared = findShared(route, known) ?? []
  for (const [f, id] of route.fallbacks.entries()) {
    if (id === undefined) continue
    const place = [...path, 'fallbacks', f]
    const problem = known.explain(id, 'a fallback')
    if (problem) {
      yield { path: place, ...problem }
      continue
    }
    if (route.targets?.some(({ model }) => model === id)) {
      yield { path: place, message: `model ${quoteName(id)} is a target of this route already` }
    }
    const { capabilities: served } = known.find(id) ?? {}
    for (const capability of shared.filter((each) => served?.includes(each) === false)) {
      const lacks = `model ${quoteName(id)} lacks ${quoteName(capability)}`
      yield { path: place, message: `${lacks}, so it cannot be a fallback here` }
    }
  }
}

/** The capabilities that all targets share; undefined when one of them is unknown or malformed. */
function findShared(route: LenientRoute, known: KnownModels): readonly Capability[] | undefined {
  const served = listTargets(route, known).map((model) => model?.capabilities)
  if (served.length === 0 || !served.every((each) => each)) return undefined
  return allCapabilities.filter((capability) => served.every((each) => each?.includes(capability)))
}

function listTargets(
  { targets }: LenientRoute,
  known: KnownModels,
): readonly (LenientModel | undefined)[] {
  return (targets ?? []).map(({ model = '' }) => known.find(model))
}

/** `"a" has "chat"; "b" has "embed", "rerank"`. */
function describeTargets(route: LenientRoute, known: KnownModels): string {
  return (route.targets ?? [])
    .map(({ model: id = '' }) => ({ id, capabilities: known.find(id)?.capabilities }))
    .map(
      ({ id, capabilities }) => `${quoteName(id)} has ${capabilities?.map(quoteName).join(', ')}`,
    )
    .join('; ')
}
