/** Whether the requests to a provider can carry a credential, for operators. It contains no secret. */
export interface CredentialState {
  /**
   * `partial`: the provider has several credentials, and some of them are missing. `parked`: at least one
   * of them is parked, and requests carry the others.
   */
  readonly state: 'missing' | 'parked' | 'partial' | 'present' | 'not_needed'
  /**
   * In words: `present`, `stored`, `not needed`, or why it is missing: `OPENAI_API_KEY is unset`. For
   * several: `2 of 3 present: OPENAI_KEY_B is unset`.
   */
  readonly detail: string
}
