import type { UpstreamRequest } from '../../src/index.ts'
import type { ManualClock } from './manual-clock.ts'
import type { Responder, ScriptedUpstream } from './scripted-upstream.ts'

/** The settings of a link of a test chain, besides its address. */
export interface LinkSettings {
  /** `openai` by default. */
  readonly kind?: string
  /** The path of the provider's address. */
  readonly path?: string
  /** Further settings of the provider. */
  readonly settings?: string
  /** Further settings of the model, in TOML's inline form. */
  readonly model?: string
  readonly keyVariable?: string
}

/**
 * A configuration with a chain of links: models `m`, `m2`, … of providers `p`, `p2`, …, each at
 * `https://p.test`, `https://p2.test`, … Model `m` falls back to all others.
 */
export function makeChain(links: readonly LinkSettings[], resilience = ''): string {
  const makeName = (letter: string, at: number) => (at === 0 ? letter : `${letter}${at + 1}`)
  const others = links.slice(1).map((_, at) => makeName('m', at + 1))
  const providers = links.map((link, at) => {
    const { kind = 'openai', path = '', settings = '', model = '', keyVariable = 'P_KEY' } = link
    const fallbacks = at === 0 ? `, fallbacks = ${JSON.stringify(others)}` : ''
    return `
      [[providers]]
      name = "${makeName('p', at)}"
      kind = "${kind}"
      api_key_env = "${keyVariable}"
      base_url = "https://${makeName('p', at)}.test${path}"
      ${settings}
      models = [{ id = "${makeName('m', at)}"${model && `, ${model}`}${fallbacks} }]
    `
  })
  return `[resilience]\n${resilience}\n${providers.join('')}`
}

/** Returns a responder per provider, whose name is the first label of the host. */
export function byProvider(
  upstream: ScriptedUpstream,
  responders: Readonly<Record<string, Responder>>,
): void {
  upstream.always((request) => {
    const name = readProvider(request)
    const responder = responders[name]
    if (!responder) throw new Error(`nothing is scripted for provider ${name}`)
    return responder(request)
  })
}

/** The names of the providers that were called, in order. */
export function called({ requests }: ScriptedUpstream): string[] {
  return requests.map(readProvider)
}

function readProvider({ url }: UpstreamRequest): string {
  return new URL(url).hostname.split('.')[0] ?? ''
}

/** Records the time of every call to this responder. */
export function timed(clock: ManualClock, times: number[], responder: Responder): Responder {
  return (request) => {
    times.push(clock.elapsed())
    return responder(request)
  }
}
