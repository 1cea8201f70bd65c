import type { Bytes, Millis } from './ids.ts'
import type { LogFormat } from './ports.ts'

/** A summary of the configuration for operators. It contains no secret. */
export interface Overview {
  readonly providers: readonly ProviderOverview[]
  readonly models: number
  /** The entries of `[[routes]]`. */
  readonly routes: number
  readonly logFormat: LogFormat
  readonly auth: AuthOverview
  readonly cache: CacheOverview
  readonly shared: SharedOverview
  /** Settings that are valid but probably a mistake. */
  readonly warnings: readonly string[]
}

export interface ProviderOverview {
  readonly name: string
  readonly kind: string
  /** The address that requests go to, without its query, which may contain a key. */
  readonly baseUrl: string
  /** The proxy of this provider without its credential, or `none`; undefined when not set. */
  readonly proxy?: string | undefined
  /**
   * `present`, `stored`, `not needed`, or why it is missing: `OPENAI_API_KEY is unset`. For several:
   * `2 of 3 present: OPENAI_KEY_B is unset`.
   */
  readonly credential: string
  /** A sentence for the log about the credentials that are missing. */
  readonly missing: string | undefined
  /** How often the list of its vendor's models is read; absent where it is not. */
  readonly listInterval?: Millis | undefined
  /** The profiles of its models for chat, with the ids of the models. Empty for APIs other than that of OpenAI. */
  readonly profiles: readonly ProfileOverview[]
}

export interface ProfileOverview {
  /** What it was made of: `deepseek (kind), deepseek-4 (upstream id)`. */
  readonly origin: string
  readonly models: readonly string[]
}

export type AuthOverview =
  | { readonly enabled: false }
  | { readonly enabled: true; readonly database: string }

export type CacheOverview =
  | { readonly enabled: false }
  | {
      readonly enabled: true
      /** Models whose answers are cached. */
      readonly models: number
      readonly maxBytes: Bytes
    }

export type SharedOverview =
  | { readonly enabled: false }
  | {
      readonly enabled: true
      /** The address of the server without its credential, or the variable that holds the address. */
      readonly server: string
      readonly prefix: string
    }
