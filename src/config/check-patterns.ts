import { isPattern } from '../core/model-pattern.ts'
import type { LenientProvider } from './lenient.ts'
import type { Finding } from './problem.ts'

/** Checks that a name of the vendor has a `*` only where the id of its model is a pattern, and one at most. */
export function* checkPatterns(providers: readonly LenientProvider[]): Generator<Finding> {
  for (const [i, { models }] of providers.entries()) {
    for (const [m, { id, upstream_id: upstreamId }] of models.entries()) {
      const stars = upstreamId?.split('*').length ?? 1
      const path = ['providers', i, 'models', m, 'upstream_id']
      if (id === undefined || stars === 1) continue
      if (!isPattern(id))
        yield { path, message: 'may have a "*" only beside an id that ends in "*"' }
      else if (stars > 2) yield { path, message: 'may have a "*" only once' }
    }
  }
}
