/** An error in a vendor's own words, as far as it gave them. */
export interface VendorError {
  /** The HTTP status of the answer, or the one that an error inside an answer names. */
  readonly status?: number | undefined
  readonly code?: string | number | undefined
  readonly type?: string | undefined
  /** The field of the vendor's own request that is at fault. */
  readonly param?: string | undefined
  readonly message?: string | undefined
  /** The other members of its error object. */
  readonly details?: Readonly<Record<string, unknown>> | undefined
}

/** True for a rate limit that no waiting cures: the account has nothing left to spend. */
export function isQuotaExhausted({ code, type }: VendorError): boolean {
  return code === 'insufficient_quota' || type === 'insufficient_quota'
}
