import { nearestName } from '../core/nearest-name.ts'
import { checkHours } from './check-prices.ts'
import { indexModels } from './known-models.ts'
import type { LenientConfig, LenientRoute } from './lenient.ts'
import { type Finding, type Path, quoteName } from './problem.ts'

/** How many routes a request may pass on its way to a model. */
const maxDepth = 4

/** The settings of other routes that a switch leaves to its targets. */
const ofTargets = ['fallback_on', 'affinity', 'affinity_ttl_seconds']

/** Checks which settings each strategy has, and that the targets of switches exist and lead to models. */
export function* checkSwitches({ providers, routes }: LenientConfig): Generator<Finding> {
  const known = indexModels(providers, routes)
  const routeIds = new Set(routes.flatMap(({ id }) => id ?? []))
  for (const [i, route] of routes.entries()) {
    const path = ['routes', i]
    if (!isSwitch(route)) {
      yield* checkOther(path, route)
      continue
    }
    yield* checkSettings(path, route)
    for (const { path: place, id } of listTargets(path, route)) {
      const problem = routeIds.has(id) ? undefined : known.explain(id, 'a target')
      if (!problem) continue
      const others = [...routeIds].filter((other) => other !== route.id)
      yield { path: place, ...problem, suggestion: problem.suggestion ?? nearestName(id, others) }
    }
  }
  yield* new Ways(routes).findings
}

function isSwitch({ strategy }: LenientRoute): boolean {
  return strategy === 'switch'
}

function* checkOther(
  path: Path,
  { strategy, targets, ...route }: LenientRoute,
): Generator<Finding> {
  // Without a strategy it is not known what the route is meant to be.
  if (targets === undefined && (typeof strategy === 'string' || route.cases === undefined)) {
    yield { path: [...path, 'targets'], message: 'is required' }
  }
  if (strategy === undefined || strategy === null) return
  for (const name of ['cases', 'default'] as const) {
    if (route[name] === undefined) continue
    yield { path: [...path, name], message: 'needs strategy = "switch"' }
  }
}

function* checkSettings(path: Path, route: LenientRoute): Generator<Finding> {
  const { cases, default: byDefault, targets, fallbacks } = route
  if (cases === undefined) yield { path: [...path, 'cases'], message: 'is required for a switch' }
  if (byDefault === undefined) {
    yield { path: [...path, 'default'], message: 'is required for a switch' }
  }
  if (targets !== undefined) {
    const message = 'a switch has cases and default in place of targets'
    yield { path: [...path, 'targets'], message }
  }
  const given = fallbacks.length > 0 ? ['fallbacks', ...ofTargets] : ofTargets
  for (const name of given.filter((one) => one in route)) {
    yield { path: [...path, name], message: `a switch has no ${name}: its targets have their own` }
  }
  for (const [c, { when }] of (cases ?? []).entries()) {
    if (when) yield* checkWhen([...path, 'cases', c, 'when'], when)
  }
}

/** Settings of `hours`, which are no conditions by themselves. */
const qualifiers: ReadonlySet<string> = new Set(['days', 'time_zone'])

type LenientWhen = NonNullable<NonNullable<LenientRoute['cases']>[number]['when']>

function* checkWhen(path: Path, when: LenientWhen): Generator<Finding> {
  const { input_tokens: tokens, metadata } = when
  const isEmpty = Object.entries(when).every(
    ([name, value]) => value === undefined || qualifiers.has(name),
  )
  if (isEmpty || (metadata && Object.keys(metadata).length === 0)) {
    yield { path, message: 'needs a condition: what serves all other requests is the default' }
  }
  yield* checkHours(path, when)
  if (!tokens) return
  const { above, below } = tokens
  if (above === undefined && below === undefined) {
    yield { path: [...path, 'input_tokens'], message: 'needs above or below' }
  }
  if (typeof above === 'number' && typeof below === 'number' && below <= above + 1) {
    const message = `must be more than ${above + 1}, or no prompt is between the two`
    yield { path: [...path, 'input_tokens', 'below'], message }
  }
}

interface PlacedTarget {
  readonly path: Path
  readonly id: string
}

function listTargets(
  path: Path,
  { cases, default: byDefault }: LenientRoute,
): readonly PlacedTarget[] {
  const targets = (cases ?? []).flatMap(({ target: id }, c) =>
    id === undefined ? [] : { path: [...path, 'cases', c, 'target'], id },
  )
  return typeof byDefault === 'string'
    ? [...targets, { path: [...path, 'default'], id: byDefault }]
    : targets
}

/** Finds circles of switches, and ways through more routes than are allowed. Each route is walked once. */
class Ways {
  readonly findings: Finding[] = []
  readonly #placed: ReadonlyMap<string, PlacedRoute>
  /** The longest way that begins at a route. */
  readonly #longest = new Map<string, readonly string[]>()
  /** The routes from the first one to the one that is walked. */
  readonly #open: string[] = []

  constructor(routes: readonly LenientRoute[]) {
    const placed = routes.flatMap((route, i) =>
      route.id === undefined ? [] : [[route.id, { route, path: ['routes', i] }] as const],
    )
    this.#placed = new Map(placed)
    for (const [id] of placed) this.#walk(id)
  }

  #walk(id: string): readonly string[] {
    const known = this.#longest.get(id)
    if (known) return known
    const placed = this.#placed.get(id)
    if (!placed || this.#open.length >= maxWalked) return []
    const { route, path } = placed
    let longest: readonly string[] = []
    let at: Path | undefined
    this.#open.push(id)
    for (const target of isSwitch(route) ? listTargets(path, route) : []) {
      const begin = this.#open.indexOf(target.id)
      if (begin >= 0) {
        const circle = [...this.#open.slice(begin), target.id]
        this.#add(target.path, `leads in a circle: ${show(circle)}`)
        continue
      }
      const way = this.#walk(target.id)
      if (way.length <= longest.length) continue
      longest = way
      at = target.path
    }
    this.#open.pop()
    const way = [id, ...longest]
    this.#longest.set(id, way)
    if (at && way.length > maxDepth) {
      const message = `leads through ${way.length} routes: ${show(way)}; at most ${maxDepth} are allowed`
      this.#add(at, message)
    }
    return way
  }

  #add(path: Path, message: string): void {
    this.findings.push({ path, message })
  }
}

interface PlacedRoute {
  readonly route: LenientRoute
  readonly path: Path
}

function show(way: readonly string[]): string {
  const shown = way.length > maxShown ? [...way.slice(0, maxShown - 1), '…', ...way.slice(-1)] : way
  return shown.map((id) => (id === '…' ? id : quoteName(id))).join(' -> ')
}

const maxShown = 8

/** A way of so many routes is far too long, and is walked no further. */
const maxWalked = 100
