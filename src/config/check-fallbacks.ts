import { nearestName } from '../core/nearest-name.ts'
import type { LenientModel, LenientProvider } from './lenient.ts'
import { type Finding, type Path, quote } from './problem.ts'

/**
 * Checks that every fallback exists, is another model, and has every capability of the model that it
 * backs. Two models may back each other, because the fallbacks of a fallback are not followed.
 */
export function* checkFallbacks(providers: readonly LenientProvider[]): Generator<Finding> {
  const entries = providers.flatMap(({ models }, i) =>
    models.map((model, m) => ({ path: ['providers', i, 'models', m], model })),
  )
  const models = indexById(entries.map(({ model }) => model))
  for (const { path, model } of entries) {
    for (const [f, fallback] of model.fallbacks.entries()) {
      if (fallback === undefined) continue
      const place = [...path, 'fallbacks', f]
      const target = models.get(fallback)
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
}

function indexById(models: readonly LenientModel[]): ReadonlyMap<string, LenientModel> {
  return new Map(models.flatMap((model) => (model.id === undefined ? [] : [[model.id, model]])))
}

function* checkCapabilities(
  path: Path,
  { capabilities: wanted }: LenientModel,
  { id = '', capabilities: served }: LenientModel,
): Generator<Finding> {
  if (wanted === null || served === null) return
  for (const capability of wanted.filter((each) => !served.includes(each))) {
    yield {
      path,
      message: `model ${quote(id)} lacks ${quote(capability)}, so it cannot be a fallback here`,
    }
  }
}
