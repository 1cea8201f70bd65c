import type { NamedSession } from '../core/affinity.ts'
import type { ModelRoute } from '../core/route.ts'
import { blake3Hex } from '../wire/digest.ts'
import { PinnedSession } from './pinned-session.ts'
import { Pins, type PinsOptions } from './pins.ts'

/** What a session is found by. */
export interface SessionSource {
  readonly route: ModelRoute
  /** The group of the key, or the key; empty without auth. */
  readonly account: string
  readonly named: NamedSession
}

/** Keeps sessions where they were served. */
export class Affinity {
  readonly #pins: Pins

  constructor(options: PinsOptions) {
    this.#pins = new Pins(options)
  }

  /** The number of pins, of which some may be over. */
  get size(): number {
    return this.#pins.size
  }

  /** Opens the session of a request. */
  open({ route, account, named }: SessionSource): PinnedSession {
    const { kind, name, keepsLong } = named
    const key = blake3Hex(JSON.stringify([account, route.id, kind, name])).slice(0, 32)
    return new PinnedSession({ pins: this.#pins, route, named: { kind, keepsLong }, key })
  }
}
