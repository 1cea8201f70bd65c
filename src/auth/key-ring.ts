import type { VirtualKey } from '../core/accounts.ts'
import { GatewayError, noRetryHeader } from '../core/errors.ts'
import type { KeyId } from '../core/ids.ts'
import { asHeaderList, type Fingerprint } from '../core/ports.ts'
import { digestKey, isKeyFormat } from './mint.ts'

/** The digests of a key's secrets. */
export interface KeyDigests {
  readonly digest: string
  /** That of the secret from before the last rotation, which works until the record's `graceEndsAt`. */
  readonly formerDigest?: string | null
}

interface KeyHolder {
  readonly record: VirtualKey
}

/** What of a request may hold a key. */
export type SentCredentials = Pick<Request, 'headers'> & Partial<Pick<Request, 'url'>>

/** Why a login was refused. */
export interface RefusedLogin {
  readonly reason: string
  /** The key whose secret was sent. */
  readonly keyId?: KeyId
}

interface Secret<Entry> {
  readonly entry: Entry
  readonly isFormer: boolean
}

/**
 * The virtual keys that give access to the data plane, by the digest of their secret. Each request
 * reads the record of its entry anew, so a change applies from the next request on. The digest is
 * slow, so credentials that were accepted before are recognized by their fingerprint.
 */
export class KeyRing<Entry extends KeyHolder> {
  readonly #secrets = new Map<string, Secret<Entry>>()
  readonly #digests = new Map<KeyId, readonly string[]>()
  /** The entries of secrets that no longer work, for `explain`. */
  readonly #former = new Map<string, Entry>()
  readonly #fingerprint: Fingerprint
  /** The digests of accepted credentials, by fingerprint. Each of them is in `#secrets`. */
  readonly #digestsByFingerprint = new Map<string, string>()

  constructor(fingerprint: Fingerprint = digestKey) {
    this.#fingerprint = fingerprint
  }

  /**
   * Makes these the only secrets of the entry. A deleted key has none: this is how it is revoked.
   */
  put({ digest, formerDigest = null }: KeyDigests, entry: Entry): void {
    const { id, deletedAt } = entry.record
    const former = this.#digests.get(id)
    if (former) {
      for (const old of former) {
        this.#secrets.delete(old)
        if (old !== digest && old !== formerDigest) this.#former.set(old, entry)
      }
      this.#digestsByFingerprint.clear()
      this.#digests.delete(id)
    }
    if (deletedAt !== null) {
      this.#former.set(digest, entry)
      return
    }
    this.#digests.set(id, formerDigest === null ? [digest] : [digest, formerDigest])
    if (formerDigest !== null) this.#secrets.set(formerDigest, { entry, isFormer: true })
    this.#secrets.set(digest, { entry, isFormer: false })
  }

  /**
   * Returns the entry of the first active key that was sent. Throws LM-4004 without one, always the
   * same error and after the same work per key. `now`: unix seconds.
   */
  authenticate(sent: SentCredentials, now: number): Entry {
    for (const secret of readSecrets(sent)) {
      const entry = this.#find(secret, now)
      if (entry) return entry
    }
    throw refused()
  }

  /**
   * Says why `authenticate` refuses these headers, for the log alone: clients get one sentence for every reason. Takes
   * as long for every credential.
   */
  explain(credentials: SentCredentials, now: number): RefusedLogin {
    const sent = readTokens(credentials)
    if (sent.length === 0) return { reason: 'no key was sent' }
    const secrets = sent.filter(isKeyFormat)
    if (secrets.length === 0) {
      const isLikeMaster = sent.some(isMasterKeyFormat)
      return { reason: isLikeMaster ? likeMasterKey : 'not a key of a gateway' }
    }
    const found = secrets.map((secret) => this.#explain(digestKey(secret), now))
    return found.find(({ keyId }) => keyId !== undefined) ?? { reason: 'no key has this secret' }
  }

  #explain(digest: string, now: number): RefusedLogin {
    const secret = this.#secrets.get(digest)
    const entry = secret?.entry ?? this.#former.get(digest)
    if (!entry) return { reason: 'no key has this secret' }
    const { record } = entry
    const { id: keyId } = record
    if (record.deletedAt !== null) return { keyId, reason: 'the key is deleted' }
    if (record.disabled) return { keyId, reason: 'the key is disabled' }
    if (record.expiresAt !== null && record.expiresAt <= now) {
      return { keyId, reason: 'the key has expired' }
    }
    return { keyId, reason: 'the secret is from before the last rotation' }
  }

  #find(secret: string, now: number): Entry | undefined {
    const fingerprint = this.#fingerprint(secret)
    // A miss does the same lookups as a hit, so timing reveals nothing.
    const known = this.#secrets.get(this.#digestsByFingerprint.get(fingerprint) ?? fingerprint)
    if (known && isActive(known, now)) return known.entry
    // Hash even when no key can match: otherwise timing would distinguish a former key from an
    // unknown one.
    const digest = digestKey(secret)
    const found = this.#secrets.get(digest)
    if (!found || !isActive(found, now)) return undefined
    this.#digestsByFingerprint.set(fingerprint, digest)
    return found.entry
  }
}

/**
 * A dummy key of the right length: malformed credentials take as long to reject as unknown keys.
 */
const dummyKey = `sk-gw-${'-'.repeat(64)}`

/**
 * Returns the keys that the headers carry, without those in the wrong format; the dummy if there are
 * none. A client may send a wrong key beside a right one: SDKs read keys for several of these headers
 * from the environment.
 */
function readSecrets(sent: SentCredentials): readonly string[] {
  const secrets = readTokens(sent).filter(isKeyFormat)
  return secrets.length > 0 ? secrets : [dummyKey]
}

function readTokens({ headers, url = '' }: SentCredentials): readonly string[] {
  const sent = [bearerToken(headers), ...keyHeaders.map((name) => headers.get(name))]
  return [...sent, readQueryKey(url)].flatMap((token) => token || [])
}

/** Those of the SDKs of Anthropic, Azure and Google. */
const keyHeaders = ['x-api-key', 'api-key', 'x-goog-api-key'] as const

/**
 * Google's clients may send the key in the query, at the paths of models. It is never logged, and never sent on.
 * https://ai.google.dev/gemini-api/docs/api-key
 */
function readQueryKey(url: string): string | null {
  if (!/[?&]key=/.test(url) || !/\/models[/?]/.test(url)) return null
  return new URL(url).searchParams.get('key')
}

/** Says why the headers do not open the admin API. */
export function explainAdminLogin(headers: Headers): RefusedLogin {
  const token = bearerToken(headers)
  if (token === undefined) return { reason: 'no master key was sent as bearer token' }
  if (isKeyFormat(token)) return { reason: 'a virtual key was sent, not the master key' }
  return { reason: isMasterKeyFormat(token) ? 'another master key' : 'not a master key' }
}

function isMasterKeyFormat(token: string): boolean {
  return /^[0-9a-f]{64}$/i.test(token)
}

const likeMasterKey = 'the key has the form of the master key; clients send a virtual key'

/** Throws LM-4004 unless requests with the secret of the entry are let in. `now`: unix seconds. */
export function requireActive(entry: KeyHolder, now: number): void {
  if (!isActive({ entry, isFormer: false }, now)) throw refused()
}

function refused(): GatewayError {
  return new GatewayError('LM-4004', 'the API key is missing or not valid', {
    headers: unauthorizedHeaders,
  })
}

function isActive({ entry, isFormer }: Secret<KeyHolder>, now: number): boolean {
  const { disabled, deletedAt, expiresAt, graceEndsAt } = entry.record
  if (isFormer && (graceEndsAt === null || graceEndsAt <= now)) return false
  return !disabled && deletedAt === null && (expiresAt === null || expiresAt > now)
}

/** Returns the token of an `Authorization: Bearer` header; undefined without one. */
export function bearerToken(headers: Headers): string | undefined {
  return bearerPattern.exec(headers.get('authorization') ?? '')?.[1]
}

const bearerPattern = /^bearer +(\S+) *$/i

/** The headers of every LM-4004: the scheme that a client has to use, and not to repeat the request. */
export const unauthorizedHeaders = asHeaderList(['www-authenticate', 'Bearer', ...noRetryHeader])
