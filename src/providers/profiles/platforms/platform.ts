import type { ProfileFields } from '../../../core/profile.ts'

/** A platform: what an API of the OpenAI format demands, whatever model it serves. */
export interface Platform {
  /** The value of `profile`; for a kind of the gateway, the name of the kind. */
  readonly name: string
  /** The ends of the host names under which the platform is reached, with a leading dot for subdomains. */
  readonly hosts?: readonly string[]
  /** Names of models that are of this family here, and of another one elsewhere. */
  readonly aliases?: { readonly matches: RegExp; readonly family: string }
  readonly fields: ProfileFields
  /** What some models need here and not elsewhere: the first match counts, on top of `fields`. */
  readonly models?: readonly PlatformModels[]
}

/** Some models of a platform. */
export interface PlatformModels {
  /** Matches the bare upstream id. */
  readonly matches: RegExp
  readonly fields: ProfileFields
}
