import type { Client, InStatement } from '@libsql/client'
import { drizzle } from 'drizzle-orm/libsql/sqlite3'
import type { CallDeadline } from './call-deadline.ts'
import { migrateDatabase } from './migrations.ts'
import { toOpenFault } from './store-fault.ts'

export interface RemoteOptions {
  readonly url: string
  readonly token: string | undefined
  readonly deadline: CallDeadline
}

/** A database on a libSQL server with the client methods that Drizzle calls. */
export class RemoteDatabase {
  readonly #options: RemoteOptions
  #client: Promise<Client> | undefined
  /** Aborts the HTTP requests of the running operation. */
  #end = new AbortController()

  constructor(options: RemoteOptions) {
    this.#options = options
  }

  open(): Promise<void> {
    return this.#withTimeout(async () => {})
  }

  execute(statement: { readonly sql: string; readonly args: unknown[] }) {
    // Drizzle passes on the bound values: text, numbers, bigints, booleans and null.
    return this.#withTimeout((client) => client.execute(statement as InStatement))
  }

  batch(statements: InStatement[]) {
    return this.#withTimeout((client) => client.batch(statements, 'write'))
  }

  async close(): Promise<void> {
    const client = await this.#client?.catch(() => undefined)
    client?.close()
    this.#client = undefined
  }

  /** Limits the time of an operation, so that a silent server does not block all later calls. */
  async #withTimeout<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const { deadline } = this.#options
    this.#end = new AbortController()
    const end = () => this.#end.abort(new DOMException('no answer', 'TimeoutError'))
    const timer = setTimeout(
      end,
      Math.min(Math.max(deadline.remaining, minTimeoutMs), maxTimeoutMs),
    )
    deadline.onAbandon(end)
    try {
      return await work(await this.#ready())
    } finally {
      clearTimeout(timer)
    }
  }

  #ready(): Promise<Client> {
    this.#client ??= this.#connect().catch((error: unknown) => {
      this.#client = undefined
      throw error
    })
    return this.#client
  }

  async #connect(): Promise<Client> {
    const { url, token } = this.#options
    let client: Client | undefined
    try {
      const { createClient } = await import('@libsql/client/http')
      client = createClient({
        url,
        fetch: (request: Request) => fetch(request, { signal: this.#end.signal }),
        ...(token && { authToken: token }),
      })
      await migrateDatabase(drizzle({ client }))
      return client
    } catch (error) {
      client?.close()
      throw toOpenFault(`the database at ${extractHost(url)}`, error)
    }
  }
}

/**
 * Bounds of the server's response time. The minimum also holds for a call that waited for others.
 */
const minTimeoutMs = 1_000
const maxTimeoutMs = 10_000

/** Returns the host of an address. The rest may contain a secret. */
export function extractHost(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'an invalid address'
}
