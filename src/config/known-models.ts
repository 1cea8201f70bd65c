import { nearestName } from '../core/nearest-name.ts'
import type { LenientModel, LenientProvider, LenientRoute } from './lenient.ts'
import { type Finding, quote } from './problem.ts'

/** The ids of a configuration that settings may name. */
export interface KnownModels {
  readonly models: ReadonlyMap<string, LenientModel>
  /** Explains why an id cannot be used as `role`, `a fallback`; undefined when it is a model. */
  explain(id: string, role: string, except?: string): Omit<Finding, 'path'> | undefined
}

export function indexModels(
  providers: readonly LenientProvider[],
  routes: readonly LenientRoute[],
): KnownModels {
  const all = providers.flatMap((provider) => provider.models)
  const models = new Map(
    all.flatMap((model) => (model.id === undefined ? [] : [[model.id, model]])),
  )
  const routeIds = new Set(routes.map(({ id }) => id))
  return {
    models,
    explain(id, role, except) {
      if (models.has(id)) return undefined
      if (routeIds.has(id)) return { message: `${quote(id)} is a route: ${role} must be a model` }
      const others = [...models.keys()].filter((other) => other !== except)
      return { message: `no model has the id ${quote(id)}`, suggestion: nearestName(id, others) }
    },
  }
}
