import type { LenientConfig } from './lenient.ts'
import { type Finding, type Path, quoteName } from './problem.ts'

/**
 * Checks that ids are unique among models and routes, names among providers, and the variables of keys
 * within a provider.
 */
export function* checkNames({ providers, routes }: LenientConfig): Generator<Finding> {
  yield* findRepeated(
    'provider name',
    providers.map(({ name }, i) => ({ name, path: ['providers', i, 'name'] })),
  )
  const models = providers.flatMap((provider, i) =>
    provider.models.map(({ id }, m) => ({ name: id, path: ['providers', i, 'models', m, 'id'] })),
  )
  const ofRoutes = routes.map(({ id }, i) => ({ name: id, path: ['routes', i, 'id'] }))
  yield* findRepeated('model id', models)
  for (const finding of findRepeated('route id', [...models, ...ofRoutes])) {
    if (finding.path[0] === 'routes') yield finding
  }
  for (const [i, { api_key_env: single, api_key_envs: several }] of providers.entries()) {
    const at = single === undefined ? -1 : several.indexOf(single)
    const path = ['providers', i, 'api_key_envs', at]
    const clash = ['providers', i, 'api_key_env']
    if (at >= 0) yield { path, message: 'is the same variable as', clash }
  }
}

interface Named {
  readonly name: string | undefined
  readonly path: Path
}

function* findRepeated(what: string, entries: readonly Named[]): Generator<Finding> {
  const first = new Map<string, Path>()
  for (const { name, path } of entries) {
    if (name === undefined) continue
    const clash = first.get(name)
    if (clash === undefined) first.set(name, path)
    else yield { path, message: `${what} ${quoteName(name)} is already taken by`, clash }
  }
}
