import type { KindFacts } from '../core/provider.ts'
import { checkFallbacks } from './check-fallbacks.ts'
import { checkKinds } from './check-kinds.ts'
import { checkNames } from './check-names.ts'
import { type Outline, outlineOf } from './outline.ts'
import type { Finding } from './problem.ts'

/** Judges the rules that join several settings. They skip what the schema finds malformed. */
export function check(table: unknown, kinds: readonly KindFacts[]): readonly Finding[] {
  const file = outlineOf(table)
  return [
    ...checkKinds(file.providers, kinds),
    ...checkNames(file.providers),
    ...checkFallbacks(file.providers),
    ...checkWebhooks(file),
  ]
}

function* checkWebhooks({ auth, webhooks }: Outline): Generator<Finding> {
  if (webhooks === undefined || auth.enabled) return
  yield { path: ['webhooks'], message: 'webhooks need auth: set auth.enabled to true' }
}
