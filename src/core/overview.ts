import type { LogFormat } from './ports.ts'

/** What an operator looks for at the start. It holds no secret. */
export interface Overview {
  readonly providers: readonly ProviderOverview[]
  readonly models: number
  readonly logFormat: LogFormat
  readonly auth: AuthOverview
  /** What is allowed, but probably not meant. */
  readonly warnings: readonly string[]
}

export interface ProviderOverview {
  readonly name: string
  readonly kind: string
  /** Where requests go, without its query, which may hold a key. */
  readonly baseUrl: string
  /** Its own proxy without its credential, or `none`; undefined where it has no setting for it. */
  readonly proxy?: string | undefined
  /** `present`, `stored`, `not needed`, or why there is none: `OPENAI_API_KEY is unset`. */
  readonly credential: string
  /** Set when requests to it fail for want of a credential: a sentence that says so. */
  readonly missing: string | undefined
}

export type AuthOverview =
  | { readonly enabled: false }
  | { readonly enabled: true; readonly database: string }
