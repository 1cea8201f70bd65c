import type { ProfileFields } from '../../core/profile.ts'

/** A family of models: what its chat template and its way of thinking demand, on every platform. */
export interface Family {
  /** The value of `profile`. */
  readonly name: string
  /** Matches the bare upstream id: in lower case, without a path before it and a version behind it. */
  readonly matches: RegExp
  readonly fields: ProfileFields
}
