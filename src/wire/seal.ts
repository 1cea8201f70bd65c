import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'

/** Identifies a sealed value, so that it cannot replace another one. */
export interface SealLabel {
  readonly purpose: string
  readonly name: string
}

/** A sealed value cannot be opened. The message contains no part of it. */
export class SealError extends Error {
  override readonly name = 'SealError'

  constructor() {
    super('the sealed value was altered, belongs elsewhere or was sealed with another key')
  }
}

const encoder = new TextEncoder()
const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const version = 'v1'
const nonceLength = 12
const tagLength = 16
/** Lower-case hex only: with a second spelling, an altered text could still be opened. */
const sealedPattern = /^v1\.((?:[0-9a-f]{2}){28,})$/

/**
 * Encrypts texts under a master key: AES-256-GCM with a fresh nonce and a derived key for each purpose.
 * A sealed text is `v1.` followed by the hex of nonce, ciphertext and tag.
 */
export class Sealer {
  readonly #master: Key
  readonly #keys = new Map<string, Promise<Key>>()

  private constructor(master: Key) {
    this.#master = master
  }

  /** Creates a sealer. `master` is 32 random bytes. */
  static async create(master: Uint8Array<ArrayBuffer>): Promise<Sealer> {
    const uses = ['deriveKey', 'deriveBits'] as const
    return new Sealer(await crypto.subtle.importKey('raw', master, 'HKDF', false, uses))
  }

  async seal(label: SealLabel, text: string): Promise<string> {
    return `${version}.${bytesToHex(await this.sealBytes(label, encoder.encode(text)))}`
  }

  /** Returns nonce, ciphertext and tag. */
  async sealBytes(label: SealLabel, bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
    const nonce = crypto.getRandomValues(new Uint8Array(nonceLength))
    const key = await this.#getKey(label.purpose)
    const box = await crypto.subtle.encrypt(algorithm(label, nonce), key, bytes)
    const sealed = new Uint8Array(nonceLength + box.byteLength)
    sealed.set(nonce)
    sealed.set(new Uint8Array(box), nonceLength)
    return sealed
  }

  /** Decrypts a text that `seal` made for the same label. Rejects with `SealError` for any other text. */
  async open(label: SealLabel, sealed: string): Promise<string> {
    const hex = sealedPattern.exec(sealed)?.[1]
    if (hex === undefined) throw new SealError()
    const bytes = await this.openBytes(label, hexToBytes(hex))
    try {
      return strictUtf8.decode(bytes)
    } catch {
      throw new SealError()
    }
  }

  /** Decrypts bytes that `sealBytes` made for the same label. Rejects with `SealError` for any others. */
  async openBytes(label: SealLabel, sealed: Uint8Array): Promise<Uint8Array> {
    const [nonce, box] = [sealed.slice(0, nonceLength), sealed.slice(nonceLength)]
    const key = await this.#getKey(label.purpose)
    try {
      return new Uint8Array(await crypto.subtle.decrypt(algorithm(label, nonce), key, box))
    } catch {
      throw new SealError()
    }
  }

  /** Returns 32 secret bytes for a purpose that is not sealing: equal for equal master keys. */
  async deriveSecret(purpose: string): Promise<Uint8Array> {
    const derivation = createDerivation(`model-gateway secret ${version} ${purpose}`)
    return new Uint8Array(await crypto.subtle.deriveBits(derivation, this.#master, 256))
  }

  #getKey(purpose: string): Promise<Key> {
    const known = this.#keys.get(purpose)
    if (known) return known
    const key = crypto.subtle.deriveKey(
      createDerivation(`model-gateway seal ${version} ${purpose}`),
      this.#master,
      { name: 'AES-GCM', length: 256 },
      false,
      ['encrypt', 'decrypt'],
    )
    this.#keys.set(purpose, key)
    return key
  }
}

function createDerivation(info: string) {
  // The master key is uniformly random, so a salt would add nothing.
  const salt = new Uint8Array(0)
  return { name: 'HKDF', hash: 'SHA-256', salt, info: encoder.encode(info) }
}

/** A `CryptoKey`; the type has no global name on every host. */
type Key = Awaited<ReturnType<typeof crypto.subtle.importKey>>

function algorithm({ purpose, name }: SealLabel, nonce: Uint8Array<ArrayBuffer>) {
  // JSON, so that different labels have different texts.
  const additionalData = encoder.encode(JSON.stringify([version, purpose, name]))
  return { name: 'AES-GCM', iv: nonce, additionalData, tagLength: tagLength * 8 }
}
