import type { Millis } from './ids.ts'
import type { CancelSignal, UpstreamPort } from './ports.ts'

/** The clouds that provide credentials to the programs that run in them. */
export const clouds = ['aws', 'google', 'azure'] as const

export type Cloud = (typeof clouds)[number]

/** The names of the clouds in messages. */
export const cloudNames: Readonly<Record<Cloud, string>> = {
  aws: 'AWS',
  google: 'Google',
  azure: 'Azure',
}

/** A credential that a cloud has issued. */
export type CloudCredential = AccessKey | AccessToken

interface Issued {
  /** Where it comes from, for operators: `AWS instance role`. */
  readonly origin: string
  /** When it expires, on the wall clock; undefined if it does not. */
  readonly expiresAt: Millis | undefined
}

/** An access key of AWS, with which requests are signed. */
export interface AccessKey extends Issued {
  readonly kind: 'access-key'
  readonly id: string
  readonly secret: string
  readonly sessionToken?: string | undefined
}

/** A bearer token. */
export interface AccessToken extends Issued {
  readonly kind: 'token'
  readonly value: string
  /** The project that the credential belongs to, on Google Cloud. */
  readonly project?: string | undefined
  /** The project whose quota requests count for, on Google Cloud. */
  readonly quotaProject?: string | undefined
}

export interface CloudCredentialRequest {
  readonly cloud: Cloud
  /** A profile of AWS's shared files; undefined to search where AWS's own tools search. */
  readonly profile: string | undefined
  /**
   * Sends the calls to the cloud's public services, with the proxy settings of the provider. Calls to the
   * metadata service of the machine never go through a proxy.
   */
  readonly send: UpstreamPort
  /** Ends the calls. */
  readonly signal: CancelSignal
}

/**
 * Finds the credential that a cloud provides to this process, and fetches a new one. Rejects with a
 * `CloudCredentialError` when there is none.
 */
export type CloudCredentialPort = (request: CloudCredentialRequest) => Promise<CloudCredential>

/** A cloud provides no credential. The message is the reason, and contains no part of a credential. */
export class CloudCredentialError extends Error {
  override readonly name = 'CloudCredentialError'
}

/** The credential of one provider that a cloud provides. It is fetched and renewed in the background. */
export interface CloudSource {
  readonly cloud: Cloud
  /**
   * Returns a credential that has not expired. Resolves at the end of the first fetch. Otherwise throws an
   * `UpstreamFault`, `no-credential`.
   */
  current(): CloudCredential | Promise<CloudCredential>
  /** Fetches a new credential in place of the one that the upstream refused. */
  replace(refused: CloudCredential): void
  /** What operators see of it. */
  readonly state: CloudSourceState
  /** The secret parts of the current credential and of the one before, to be masked. */
  readonly secrets: readonly string[]
}

export type CloudSourceState =
  | { readonly kind: 'fetching' }
  | { readonly kind: 'held'; readonly origin: string }
  | { readonly kind: 'failed'; readonly reason: string }
