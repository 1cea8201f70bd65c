import type { Millis } from './ids.ts'

/** Which requests stay where they were served: none, those that name a session, or those with equal prompts too. */
export type AffinityMode = 'off' | 'session' | 'prefix'

/** How long requests stay at a target, or at a credential of a provider. */
export interface AffinityPolicy {
  readonly mode: AffinityMode
  /** How long a session is remembered after its last request. */
  readonly ttl: Millis
}

/** Which links of a route a session stays at. */
export interface RouteAffinity {
  /** Of the targets; `off` for a model, and where there is no other target to choose. */
  readonly targets: AffinityPolicy
  /** Something is pinned by the beginning of the prompt, for requests that name no session. */
  readonly byPrefix: boolean
}

/** A session of requests, as far as it is known from one of them. */
export interface NamedSession {
  readonly kind: 'session' | 'prefix'
  /** The text of the client, which is only hashed. */
  readonly name: string
  /** The request asks the vendor to keep its prompt for an hour. */
  readonly keepsLong: boolean
}

/** What served a session last. */
export interface Pin {
  /** The id of the target of the route; empty where nothing is chosen among targets. */
  readonly target: string
  /** The names of the credentials, by provider: the latest first. */
  readonly credentials: readonly (readonly [provider: string, credential: string])[]
}

/** How a session was served: by what is pinned, by something else, or for the first time. */
export type AffinityResult = 'hit' | 'new' | 'moved'

/** True when a policy holds for sessions of a kind. */
export function isPinned({ mode }: AffinityPolicy, kind: NamedSession['kind']): boolean {
  return mode === 'prefix' || (mode === 'session' && kind === 'session')
}
