import type { KindFacts } from '../core/provider-kind.ts'
import { checkFallbacks } from './check-fallbacks.ts'
import { checkKinds } from './check-kinds.ts'
import { checkNames } from './check-names.ts'
import { checkPatterns } from './check-patterns.ts'
import { checkPrices } from './check-prices.ts'
import { checkRoutes } from './check-routes.ts'
import { checkSwitches } from './check-switches.ts'
import { type LenientConfig, parseLenient } from './lenient.ts'
import type { Finding } from './problem.ts'

/** Checks the rules that join several settings. They skip values that the schema rejects. */
export function checkRules(table: unknown, kinds: readonly KindFacts[]): readonly Finding[] {
  const config = parseLenient(table)
  return [
    ...checkKinds(config.providers, kinds),
    ...checkPrices(config.providers),
    ...checkNames(config),
    ...checkPatterns(config.providers),
    ...checkFallbacks(config),
    ...checkRoutes(config),
    ...checkSwitches(config),
    ...checkWebhooks(config),
    ...checkShared(config),
    ...checkWorkers(config),
  ]
}

function* checkWebhooks({ auth, webhooks }: LenientConfig): Generator<Finding> {
  if (webhooks === undefined || auth.enabled !== false) return
  yield { path: ['webhooks'], message: 'webhooks need auth: set auth.enabled to true' }
}

function* checkShared({ shared }: LenientConfig): Generator<Finding> {
  if (shared === undefined) return
  const { url, url_env: variable } = shared
  if (url === undefined && variable === undefined) {
    yield { path: ['shared'], message: 'needs the address of a server: set url or url_env' }
  }
  if (url !== undefined && variable !== undefined) {
    yield { path: ['shared', 'url_env'], message: 'must not be set beside url' }
  }
}

function* checkWorkers({ auth, server, shared }: LenientConfig): Generator<Finding> {
  if (server.workers === 1 || !auth.enabled || shared !== undefined) return
  const message =
    'with auth on, several workers need [shared], because each would grant the full budgets and rate limits'
  yield { path: ['server', 'workers'], message }
}
