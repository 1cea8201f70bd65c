import { indexModels } from './known-models.ts'
import type { LenientConfig, LenientModel } from './lenient.ts'
import { type Finding, type Path, quoteName } from './problem.ts'

/**
 * Checks that every fallback exists, is another model, and has every capability of the model that it
 * backs. Two models may back each other, because the fallbacks of a fallback are not followed.
 */
export function* checkFallbacks({ providers, routes }: LenientConfig): Generator<Finding> {
  const entries = providers.flatMap(({ models }, i) =>
    models.map((model, m) => ({ path: ['providers', i, 'models', m], model })),
  )
  const { find, explain } = indexModels(providers, routes)
  for (const { path, model } of entries) {
    for (const [f, fallback] of model.fallbacks.entries()) {
      if (fallback === undefined) continue
      const place = [...path, 'fallbacks', f]
      const problem = explain(fallback, 'a fallback', model.id)
      const target = find(fallback)
      if (problem) yield { path: place, ...problem }
      else if (fallback === model.id) {
        yield { path: place, message: 'a model cannot be its own fallback' }
      } else if (target) yield* checkCapabilities(place, model, { ...target, id: fallback })
    }
  }
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
      message: `model ${quoteName(id)} lacks ${quoteName(capability)}, so it cannot be a fallback here`,
    }
  }
}
