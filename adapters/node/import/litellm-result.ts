import type { Capability } from '../../../src/core/capability.ts'
import type { FallbackCause } from '../../../src/core/fallback.ts'
import type { Entry } from './litellm-file.ts'

/*
 * The parts of the configuration to write.
 */

/** Where an entry sends its requests, and how: what its provider has. */
export interface ConvertedAddress {
  readonly kind: string
  /** The variable of the key. */
  readonly variable: string | undefined
  /** The cloud that provides the credential. */
  readonly credentials: 'aws' | 'google' | undefined
  /** The profile of the shared files of AWS. */
  readonly profile: string | undefined
  readonly address: string | undefined
  readonly version: string | undefined
  /** In milliseconds. */
  readonly timeout: number | undefined
}

/** A provider to write, with its models. */
export interface ConvertedProvider extends ConvertedAddress {
  readonly name: string
  readonly models: ConvertedModel[]
}

/** A model to write. */
export interface ConvertedModel {
  readonly id: string
  /** The name in LiteLLM, which several models may have. */
  readonly name: string
  readonly upstreamId: string
  readonly entry: Entry
}

/** The fallbacks of a model or a route, and the refusals after which they serve too. */
export interface Fallbacks {
  readonly ids: readonly string[]
  readonly causes: readonly FallbackCause[]
}

/** The cache to write. */
export interface Cache {
  /** Undefined for the default. */
  readonly ttlSeconds: number | undefined
  readonly capabilities: ReadonlySet<Capability>
}
