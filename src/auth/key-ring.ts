import type { VirtualKey } from '../core/accounts.ts'
import { GatewayError } from '../core/errors.ts'
import type { KeyId } from '../core/ids.ts'
import type { Fingerprint } from '../core/ports.ts'
import { digestKey, isKeyFormat } from './mint.ts'

/**
 * The keys that open the data plane, by the digest of their secret. A holder is whoever a secret
 * stands for; its record is read anew for each request, so a change counts from the next one on.
 * The digest is a slow one: what was let in once is recognized by its fingerprint.
 */
export class KeyRing<Holder extends { readonly record: VirtualKey }> {
  readonly #entries = new Map<string, Holder>()
  readonly #digests = new Map<KeyId, string>()
  readonly #fingerprint: Fingerprint
  /** The digests of what was let in, by fingerprint. All of them are on the ring. */
  readonly #digestsByFingerprint = new Map<string, string>()

  constructor(fingerprint: Fingerprint = digestKey) {
    this.#fingerprint = fingerprint
  }

  /** Makes `digest` the only secret of the holder; a tombstone has none. */
  put(digest: string, holder: Holder): void {
    const { id, deletedAt } = holder.record
    const former = this.#digests.get(id)
    if (former !== undefined) {
      this.#entries.delete(former)
      this.#digestsByFingerprint.clear()
    }
    if (deletedAt === null) {
      this.#digests.set(id, digest)
      this.#entries.set(digest, holder)
    } else {
      this.#digests.delete(id)
    }
  }

  /**
   * The holder of the key that the headers show. Throws LM-4004, always the same one and after the
   * same work, when they show none that is in force. `now`: unix seconds.
   */
  authenticate(headers: Headers, now: number): Holder {
    const credential = readCredential(headers)
    const fingerprint = this.#fingerprint(credential)
    // What is not known is looked up as well, so that it takes no less.
    const known = this.#entries.get(this.#digestsByFingerprint.get(fingerprint) ?? fingerprint)
    if (known && isActive(known.record, now)) return known
    // Also where nothing can come of it, or the time would tell a former key from no key.
    const secret = readKey(headers) ?? dummyKey
    const digest = digestKey(secret)
    const holder = this.#entries.get(digest)
    if (!holder || !isActive(holder.record, now)) {
      throw new GatewayError('LM-4004', 'the API key is missing or not valid', {
        headers: challenge,
      })
    }
    if (credential === formatCredential(secret)) this.#digestsByFingerprint.set(fingerprint, digest)
    return holder
  }
}

/** As long as a key, and none: what cannot be a key is not told from an unknown one by its time. */
const dummyKey = `sk-gw-${'-'.repeat(64)}`
const dummyCredential = formatCredential(dummyKey)

/** A secret as nearly all clients show it. */
function formatCredential(secret: string): string {
  return `Bearer ${secret}`
}

/**
 * What the headers show, without a look into it; where it is not as long as a key that is shown in
 * the usual way, the decoy. Only that way is remembered: a client could find thousands of others.
 */
function readCredential(headers: Headers): string {
  const shown = headers.get('authorization') ?? formatCredential(headers.get('x-api-key') ?? '')
  return shown.length === dummyCredential.length ? shown : dummyCredential
}

function readKey(headers: Headers): string | undefined {
  const token = bearerToken(headers) ?? headers.get('x-api-key') ?? ''
  return isKeyFormat(token) ? token : undefined
}

function isActive({ disabled, deletedAt, expiresAt }: VirtualKey, now: number): boolean {
  return !disabled && deletedAt === null && (expiresAt === null || expiresAt > now)
}

/** Returns the token of an `Authorization: Bearer` header; undefined without one. */
export function bearerToken(headers: Headers): string | undefined {
  return bearerPattern.exec(headers.get('authorization') ?? '')?.[1]
}

const bearerPattern = /^bearer +(\S+) *$/i

/** The header of every LM-4004: it names the scheme that a client has to use. */
export const challenge = Object.freeze(['www-authenticate', 'Bearer'])
