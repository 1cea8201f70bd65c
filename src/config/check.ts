import type { KindFacts } from '../core/provider-kind.ts'
import { checkFallbacks } from './check-fallbacks.ts'
import { checkKinds } from './check-kinds.ts'
import { checkNames } from './check-names.ts'
import { checkRoutes } from './check-routes.ts'
import { type LenientConfig, parseLenient } from './lenient.ts'
import type { Finding } from './problem.ts'

/** Checks the rules that join several settings. They skip values that the schema rejects. */
export function checkRules(table: unknown, kinds: readonly KindFacts[]): readonly Finding[] {
  const config = parseLenient(table)
  return [
    ...checkKinds(config.providers, kinds),
    ...checkNames(config),
    ...checkFallbacks(config),
    ...checkRoutes(config),
    ...checkWebhooks(config),
  ]
}

function* checkWebhooks({ auth, webhooks }: LenientConfig): Generator<Finding> {
  if (webhooks === undefined || auth.enabled) return
  yield { path: ['webhooks'], message: 'webhooks need auth: set auth.enabled to true' }
}
