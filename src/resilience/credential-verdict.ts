import type { UpstreamFailure } from '../core/failure.ts'
import type { Millis } from '../core/ids.ts'

/** What a failed call says of the credential that it carried. */
export type CredentialVerdict =
  | { readonly kind: 'limited'; readonly retryAfter: Millis | undefined }
  | { readonly kind: 'refused'; readonly status: number }
  | { readonly kind: 'unsendable' }
  /** The request is too large for the rate limit of the credential; another one may have a higher limit. */
  | { readonly kind: 'too-large' }

/** Judges a failed call. Returns undefined when it does not concern the credential. */
export function judgeCredential(failure: UpstreamFailure): CredentialVerdict | undefined {
  // It may be a file that cannot be read yet.
  if (failure.kind === 'no-credential') return { kind: 'unsendable' }
  if (failure.kind !== 'status') return undefined
  const { status, retryAfter, isRequestFault } = failure
  switch (status) {
    case 429:
      return isRequestFault ? { kind: 'too-large' } : { kind: 'limited', retryAfter }
    case 401:
    case 402:
    case 403:
      return { kind: 'refused', status }
    case 407:
      return { kind: 'refused', status: 401 }
    default:
      return undefined
  }
}
