import { nearestName } from './nearest-name.ts'
import type { ModelOutline, ProviderOutline } from './outline.ts'
import { type Finding, type Path, quote } from './problem.ts'

interface Entry {
  readonly path: Path
  readonly model: ModelOutline
}

/** Every fallback exists, can do all that the model it backs can do, and leads back to none. */
export function* checkFallbacks(providers: readonly ProviderOutline[]): Generator<Finding> {
  const entries = providers.flatMap(({ models }, i) =>
    models.map((model, m): Entry => ({ path: ['providers', i, 'models', m], model })),
  )
  const models = byId(entries)
  for (const { path, model } of entries) {
    for (const [f, fallback] of model.fallbacks.entries()) {
      if (fallback === undefined) continue
      const place = [...path, 'fallbacks', f]
      const target = models.get(fallback)?.model
      if (target === undefined) {
        const others = [...models.keys()].filter((id) => id !== model.id)
        const suggestion = nearestName(fallback, others)
        yield { path: place, message: `no model has the id ${quote(fallback)}`, suggestion }
      } else if (fallback === model.id) {
        yield { path: place, message: 'a model cannot be its own fallback' }
      } else {
        yield* checkCapabilities(place, model, target)
      }
    }
  }
  yield* checkCycles(models)
}

function byId(entries: readonly Entry[]): ReadonlyMap<string, Entry> {
  return new Map(
    entries.flatMap((entry) => (entry.model.id === undefined ? [] : [[entry.model.id, entry]])),
  )
}

function* checkCapabilities(
  path: Path,
  { capabilities: wanted }: ModelOutline,
  { id = '', capabilities: served }: ModelOutline,
): Generator<Finding> {
  if (wanted === null || served === null) return
  for (const capability of wanted.filter((each) => !served.includes(each))) {
    yield { path, message: `model ${quote(id)} lacks ${quote(capability)}, so it cannot stand in` }
  }
}

/**
 * Walks every trail of fallbacks once, depth first, and reports each that returns to itself.
 * With a stack of its own: a file may hold more models than calls can be nested.
 */
function* checkCycles(models: ReadonlyMap<string, Entry>): Generator<Finding> {
  const finished = new Set<string>()
  for (const start of models.keys()) {
    const trail = finished.has(start) ? [] : [step(start, models)]
    const onTrail = new Set([start])
    for (let here = trail.at(-1); here !== undefined; here = trail.at(-1)) {
      const next = here.fallbacks.next()
      if (next.done) {
        finished.add(here.id)
        onTrail.delete(here.id)
        trail.pop()
        continue
      }
      const { id, path } = next.value
      if (onTrail.has(id)) {
        const ids = trail.map((each) => each.id)
        const cycle = [...ids.slice(ids.indexOf(id)), id]
        yield { path, message: `the fallbacks form a cycle: ${cycle.map(quote).join(' -> ')}` }
      } else if (!finished.has(id)) {
        onTrail.add(id)
        trail.push(step(id, models))
      }
    }
  }
}

interface Step {
  readonly id: string
  readonly fallbacks: Iterator<{ readonly id: string; readonly path: Path }>
}

function step(id: string, models: ReadonlyMap<string, Entry>): Step {
  return { id, fallbacks: fallbacksOf(id, models) }
}

/** The fallbacks of a model that can be followed: they exist, and are not the model itself. */
function* fallbacksOf(id: string, models: ReadonlyMap<string, Entry>) {
  const entry = models.get(id)
  for (const [f, fallback] of entry?.model.fallbacks.entries() ?? []) {
    if (entry === undefined || fallback === undefined) continue
    if (fallback === id || !models.has(fallback)) continue
    yield { id: fallback, path: [...entry.path, 'fallbacks', f] }
  }
}
