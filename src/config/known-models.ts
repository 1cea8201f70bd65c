import { isPattern, PatternIndex } from '../core/model-pattern.ts'
import { nearestName } from '../core/nearest-name.ts'
import type { LenientModel, LenientProvider, LenientRoute } from './lenient.ts'
import { type Finding, quoteName } from './problem.ts'

/** The ids of a configuration that settings may name. */
export interface KnownModels {
  /** Finds the entry that serves an id: that of the model, or of a pattern. Undefined for a route. */
  find(id: string): LenientModel | undefined
  /** Explains why an id cannot be used as `role`, `a fallback`; undefined when it is a model. */
  explain(id: string, role: string, except?: string): Omit<Finding, 'path'> | undefined
}

export function indexModels(
  providers: readonly LenientProvider[],
  routes: readonly LenientRoute[],
): KnownModels {
  const all = providers
    .flatMap(({ models }) => models)
    .flatMap((model) => (model.id === undefined ? [] : [[model.id, model] as const]))
  const models = new Map(all.filter(([id]) => !isPattern(id)))
  const patterns = new Map(all.filter(([id]) => isPattern(id)))
  const routeIds = new Set(routes.map(({ id }) => id))
  const index = new PatternIndex(patterns)
  const find = (id: string): LenientModel | undefined => {
    const model = models.get(id)
    if (model || routeIds.has(id) || patterns.has(id)) return model
    return index.find(id)?.entry
  }
  return {
    find,
    explain(id, role, except) {
      if (find(id)) return undefined
      if (routeIds.has(id))
        return { message: `${quoteName(id)} is a route: ${role} must be a model` }
      if (patterns.has(id)) {
        return { message: `${quoteName(id)} is a pattern: ${role} must be an id that it serves` }
      }
      const others = [...models.keys()].filter((other) => other !== except)
      return {
        message: `no model has the id ${quoteName(id)}`,
        suggestion: nearestName(id, others),
      }
    },
  }
}
