import type { CloudCredentialPort, CloudSource } from '../core/cloud-credential.ts'
import type { Millis } from '../core/ids.ts'
import { CancelScope } from '../wire/cancel-scope.ts'
import { type CloudQuery, type RenewalPorts, RenewedCredential } from './renewed-credential.ts'

export interface CloudCredentialsOptions extends Omit<RenewalPorts, 'fetch'> {
  /** Absent when the host has none. */
  readonly fetch: CloudCredentialPort | undefined
}

/** How long a start waits for credentials. Then it goes on, and they are fetched in the background. */
const maxStartWait: Millis = 5_000

/** Owns the credentials of clouds: those of the current snapshot are renewed, all others are not. */
export class CloudCredentials {
  readonly #options: CloudCredentialsOptions
  #running = new Set<RenewedCredential>()

  constructor(options: CloudCredentialsOptions) {
    this.#options = options
  }

  /** Returns a source that fetches nothing before it is followed or used; undefined without the port. */
  readonly open = (query: CloudQuery): CloudSource | undefined => {
    const { fetch, ...ports } = this.#options
    return fetch && new RenewedCredential(query, { fetch, ...ports })
  }

  /** Stops all other sources, and renews these now: a reload reads changed files again. */
  follow(sources: Iterable<CloudSource>): void {
    const followed = new Set([...sources].filter((source) => source instanceof RenewedCredential))
    for (const source of this.#running) if (!followed.has(source)) source.stop()
    this.#running = followed
    for (const source of followed) source.start()
  }

  /** Resolves when the first fetch of every source has ended, or after five seconds. */
  async settle(): Promise<void> {
    if (this.#running.size === 0) return
    const scope = new CancelScope(this.#options.clock)
    scope.endAfter(maxStartWait, { kind: 'timeout', limit: 'total' })
    const settled = Promise.all([...this.#running].map((source) => source.settle()))
    await scope.race(settled).catch(() => {})
    scope.close()
  }

  /** Stops all sources. */
  close(): void {
    this.follow([])
  }
}
