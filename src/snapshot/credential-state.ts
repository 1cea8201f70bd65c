import { type CloudSource, cloudNames } from '../core/cloud-credential.ts'
import type { CredentialState } from '../core/credential-state.ts'
import type { Credential, Provider } from '../core/provider.ts'

/** Describes the credentials of a provider. Those that are parked count as present. */
export function describeCredentials({
  cloud,
  credentials,
}: Pick<Provider, 'cloud' | 'credentials'>): CredentialState {
  const [first] = credentials
  if (cloud) return describeCloud(cloud)
  if (first !== undefined && credentials.length === 1) return describeCredential(first)
  const gaps = credentials.flatMap((one) => (one.kind === 'missing' ? one.state : []))
  const present = credentials.length - gaps.length
  if (gaps.length === 0) return { state: 'present', detail: `${present} present` }
  return {
    state: present === 0 ? 'missing' : 'partial',
    detail: `${present} of ${credentials.length} present: ${gaps.join(', ')}`,
  }
}

/** `AWS instance role`; `no AWS credential: it is not available within 20 seconds`. */
export function describeCloud({ cloud, state }: CloudSource): CredentialState {
  switch (state.kind) {
    case 'held':
      return { state: 'present', detail: state.origin }
    case 'fetching':
      return { state: 'missing', detail: `${cloudNames[cloud]} credential not available yet` }
    case 'failed':
      return { state: 'missing', detail: `no ${cloudNames[cloud]} credential: ${state.reason}` }
    default:
      return state satisfies never
  }
}

function describeCredential(credential: Credential): CredentialState {
  switch (credential.kind) {
    case 'secret':
      return {
        state: 'present',
        detail: credential.origin === 'store' ? 'stored' : 'present',
      }
    case 'cloud':
      return { state: 'present', detail: cloudNames[credential.cloud] }
    case 'none':
      return { state: 'not_needed', detail: 'not needed' }
    case 'missing':
      return { state: 'missing', detail: credential.state }
    default:
      return credential satisfies never
  }
}
