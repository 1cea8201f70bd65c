import type { UpstreamFailure } from '../core/failure.ts'
import { isProviderFault } from './retry-link.ts'

/**
 * True when a request would probably fail again on the same link: a fault of the provider, a timeout,
 * or a credential that cannot be used.
 */
export function isLinkFault(failure: UpstreamFailure): boolean {
  switch (failure.kind) {
    case 'timeout':
    case 'no-credential':
    case 'credentials-parked':
      return true
    default:
      return isProviderFault(failure)
  }
}
