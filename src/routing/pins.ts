import type { AffinityResult, Pin } from '../core/affinity.ts'
import type { Millis } from '../core/ids.ts'
import type { Clock } from '../core/ports.ts'

/** A pin that is in force. Another one takes its place when the session moves. */
export interface HeldPin {
  readonly pin: Pin
  /** Greater for a later pin on the server; 0 for one that only this process knows. */
  version: number
  expiresAt: Millis
  /** When other processes have learnt last that it is in use. */
  sharedAt: Millis
}

/** A pin as another process knows it. */
export interface KnownPin {
  readonly key: string
  readonly pin: Pin
  /** Greater for a later pin; 0 where there is no server that counts. */
  readonly version: number
  /** For how long it is in force. */
  readonly ttl: Millis
}

/** How a process learns the pins of others, and they learn its own. Never rejects. */
export interface PinExchange {
  /** Sets what is called with each pin that another process has made or used. */
  follow(receive: (known: KnownPin) => void): void
  /** Reads a pin; undefined where that would take a call of its own. */
  read(key: string): Promise<KnownPin | undefined> | undefined
  /**
   * Gives others a pin, unless they know one that is not of the version `seen`. Resolves to the pin that they
   * know then, if there is one.
   */
  write(known: KnownPin): Promise<KnownPin | undefined>
}

export interface PinsOptions {
  readonly clock: Clock
  readonly onResult: (result: AffinityResult) => void
  /** Absent for the only process. */
  readonly exchange?: PinExchange | undefined
  /** The maximum number of pins; the ones that were not used for longest go first. */
  readonly maxPins?: number
}

/** The pins of sessions: where each was served last. A reload keeps them. Nothing of a session is kept but a hash. */
export class Pins {
  readonly #options: PinsOptions
  readonly #maxPins: number
  /** By the hash of the session: the ones that were not used for longest first. */
  readonly #pins = new Map<string, HeldPin>()

  constructor(options: PinsOptions) {
    this.#options = options
    this.#maxPins = options.maxPins ?? 100_000
    options.exchange?.follow((known) => this.#learn(known))
  }

  /** The number of pins, of which some may be over. */
  get size(): number {
    return this.#pins.size
  }

  find(key: string): HeldPin | undefined {
    const held = this.#pins.get(key)
    return held && held.expiresAt > this.#options.clock.elapsed() ? held : undefined
  }

  /** Reads what other processes know, in a call that is made anyway. Undefined where there is none. */
  read(key: string): Promise<void> | undefined {
    return this.#options.exchange?.read(key)?.then((known) => {
      if (known) this.#learn(known)
    })
  }

  count(result: AffinityResult): void {
    this.#options.onResult(result)
  }

  /** Keeps a pin in force that has served. */
  renew(key: string, held: HeldPin, ttl: Millis): void {
    const now = this.#options.clock.elapsed()
    held.expiresAt = now + ttl
    this.#pins.delete(key)
    this.#pins.set(key, held)
    // Others keep it for `ttl`; so often they learn that it is in use.
    if (now - held.sharedAt >= ttl / 4) this.#share(key, held, ttl)
  }

  /** Sets a pin in place of the one with a version, which is 0 for none. */
  set(key: string, pin: Pin, { version, ttl }: Pick<KnownPin, 'version' | 'ttl'>): void {
    this.#share(key, this.#put(key, pin, { version, ttl }), ttl)
  }

  #put(key: string, pin: Pin, { version, ttl }: Pick<KnownPin, 'version' | 'ttl'>): HeldPin {
    const now = this.#options.clock.elapsed()
    const held: HeldPin = { pin, version, expiresAt: now + ttl, sharedAt: now }
    this.#pins.delete(key)
    this.#pins.set(key, held)
    this.#dropOldest(now)
    return held
  }

  /** Two at a time, so that those that are over do not stay until there is no room. */
  #dropOldest(now: Millis): void {
    let left = 2
    for (const [key, { expiresAt }] of this.#pins) {
      if (left-- === 0) return
      if (expiresAt > now && this.#pins.size <= this.#maxPins) return
      this.#pins.delete(key)
    }
  }

  #share(key: string, held: HeldPin, ttl: Millis): void {
    const { exchange, clock } = this.#options
    if (!exchange) return
    held.sharedAt = clock.elapsed()
    const { pin, version } = held
    void exchange.write({ key, pin, version, ttl }).then((known) => {
      if (known) this.#learn(known)
    })
  }

  #learn({ key, pin, version, ttl }: KnownPin): void {
    const held = this.#pins.get(key)
    const isSame = held !== undefined && isEqual(held.pin, pin)
    if (held && version > 0 && (isSame ? version < held.version : version <= held.version)) return
    if (!isSame) {
      this.#put(key, pin, { version, ttl })
      return
    }
    const now = this.#options.clock.elapsed()
    held.version = version
    held.expiresAt = Math.max(held.expiresAt, now + ttl)
    held.sharedAt = now
  }
}

function isEqual(a: Pin, b: Pin): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b)
}
