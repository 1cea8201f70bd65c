import type { LenientProvider } from './lenient.ts'
import { type Finding, type Path, quote } from './problem.ts'

/** Checks that model ids and provider names are unique in the file, and key variables in a provider. */
export function* checkNames(providers: readonly LenientProvider[]): Generator<Finding> {
  yield* findRepeated(
    'provider name',
    providers.map(({ name }, i) => ({ name, path: ['providers', i, 'name'] })),
  )
  yield* findRepeated(
    'model id',
    providers.flatMap(({ models }, i) =>
      models.map(({ id }, m) => ({ name: id, path: ['providers', i, 'models', m, 'id'] })),
    ),
  )
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
    else yield { path, message: `${what} ${quote(name)} is already taken by`, clash }
  }
}
