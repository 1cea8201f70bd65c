import type { SharedState } from '../core/shared-state.ts'
import { parsePin, stringifyPin } from './pin-text.ts'
import type { KnownPin, PinExchange } from './pins.ts'

/**
 * The pins on the server. They are read with calls that are made anyway, and written without a wait; each change is
 * published.
 */
export class SharedPins implements PinExchange {
  readonly #shared: SharedState

  constructor(shared: SharedState) {
    this.#shared = shared
  }

  follow(receive: (known: KnownPin) => void): void {
    this.#shared.subscribe('pins', (message) => {
      const [, key, version, ttl, text] = messagePattern.exec(message) ?? []
      const pin = parsePin(text)
      if (key !== undefined && pin) {
        receive({ key, pin, version: Number(version), ttl: Number(ttl) })
      }
    })
  }

  read(key: string): Promise<KnownPin | undefined> | undefined {
    if (!this.#shared.isUp) return undefined
    return this.#call(key, { name: 'pin_read', args: () => [key] })
  }

  write({ key, version, ttl, pin }: KnownPin): Promise<KnownPin | undefined> {
    const args = () => [key, version, Math.ceil(ttl), stringifyPin(pin)]
    return this.#call(key, { name: 'pin_write', args, canWait: true })
  }

  /** Resolves to undefined when there is no pin, and when the server is away. */
  async #call(
    key: string,
    call: Parameters<SharedState['batch']>[0],
  ): Promise<KnownPin | undefined> {
    const reply = await this.#shared.batch(call).catch(() => [])
    const [, , version, ttl, text] = reply
    const pin = parsePin(text)
    return pin && { key, pin, version: Number(version), ttl: Number(ttl) }
  }
}

/** The hash of the session, the version, the time, the pin. */
const messagePattern = /^(\S+) (\d+) (\d+) (.+)$/s
