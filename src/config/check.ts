import type { KindFacts } from '../core/provider.ts'
import { checkFallbacks } from './check-fallbacks.ts'
import { checkKinds } from './check-kinds.ts'
import { checkNames } from './check-names.ts'
import { type LenientConfig, parseLenient } from './lenient.ts'
import type { Finding } from './problem.ts'

/** Judges the rules that join several settings. They skip what the schema finds malformed. */
export function checkRules(table: unknown, kinds: readonly KindFacts[]): readonly Finding[] {
  const file = parseLenient(table)
  return [
    ...checkKinds(file.providers, kinds),
    ...checkNames(file.providers),
    ...checkFallbacks(file.providers),
    ...checkWebhooks(file),
  ]
}

function* checkWebhooks({ auth, webhooks }: LenientConfig): Generator<Finding> {
  if (webhooks === undefined || auth.enabled) return
  yield { path: ['webhooks'], message: 'webhooks need auth: set auth.enabled to true' }
}
