import type { ModelId, ProviderName } from '../../src/core/ids.ts'
import type { Model } from '../../src/core/provider.ts'
import type { Balance, RouteStrategy } from '../../src/core/route.ts'
import type { Conditions } from '../../src/routing/index.ts'
import { called } from '../support/chain.ts'
import type { ScriptedUpstream } from '../support/scripted-upstream.ts'

export interface RouteSettings {
  readonly strategy?: string
  readonly weights?: readonly number[]
  /** Further settings of each target's model, in TOML's inline form. */
  readonly models?: readonly string[]
  readonly kinds?: readonly string[]
  /** Further settings of every provider. */
  readonly settings?: string
  readonly hasFallback?: boolean
  readonly resilience?: string
}

/**
 * A configuration with a route `r` over models `a`, `b`, … of providers with the same names, each at
 * `https://a.test`, … Its fallback is model `z` of provider `z`.
 */
export function makeRoute({
  strategy = 'weighted',
  weights = [1, 1, 1],
  models = [],
  kinds = [],
  settings = '',
  hasFallback = false,
  resilience = 'retry_max_attempts = 1',
}: RouteSettings = {}): string {
  const ids = weights.map((_, at) => String.fromCharCode(97 + at))
  const providers = [...ids, 'z'].map(
    (id, at) => `
      [[providers]]
      name = "${id}"
      kind = "${(id === 'z' ? undefined : kinds[at]) ?? 'openai'}"
      api_key_env = "P_KEY"
      base_url = "https://${id}.test"
      ${settings}
      models = [{ id = "${id}"${id !== 'z' && models[at] ? `, ${models[at]}` : ''} }]
    `,
  )
  const targets = ids.map((id, at) => `{ model = "${id}", weight = ${weights[at]} }`)
  return `[resilience]\n${resilience}\n${providers.join('')}
    [[routes]]
    id = "r"
    strategy = "${strategy}"
    targets = [${targets.join(', ')}]
    ${hasFallback ? 'fallbacks = ["z"]' : ''}
  `
}

/** A chat request for route `r`. */
export function chatBody(more: object = {}): object {
  return { model: 'r', messages: [{ role: 'user', content: 'Hi' }], ...more }
}

/** Returns the providers of the calls since the last time, in order. */
export function takeCalls(upstream: ScriptedUpstream): string {
  const names = called(upstream).join('')
  upstream.requests.length = 0
  return names
}

/** A target as far as its place in the order depends on it. */
export function makeTarget(id: string): Model {
  // Only these members are read.
  return { id: id as ModelId, provider: { name: `p-${id}` as ProviderName } } as Model
}

/** A balance over targets `0`, `1`, … with these weights. */
export function makeBalance(
  weights: readonly number[],
  strategy: RouteStrategy = 'weighted',
): Balance {
  const targets = weights.map((weight, at) => ({ model: makeTarget(String(at)), weight }))
  return { strategy, targets, fallbacks: [makeTarget('f')] }
}

/** Conditions under which all targets are alike, with these differences. */
export function makeConditions(differences: Partial<Conditions> = {}): Conditions {
  return {
    random: () => 0,
    isOpen: () => false,
    traffic: { countInFlight: () => 0, getPace: () => ({ kind: 'new' }) },
    isStream: false,
    cooldown: 30_000,
    cost: () => 0n,
    ...differences,
  }
}
