import type { Client, InStatement } from '@libsql/client'
import { drizzle } from 'drizzle-orm/libsql/sqlite3'
import type { CallDeadline } from './call-deadline.ts'
import { migrateDatabase } from './migrations.ts'
import { toOpenFault } from './store-fault.ts'

export interface RemoteOptions {
  readonly url: string
  readonly token: string | undefined
  readonly limit: CallDeadline
}

/** A database on a libSQL server, as Drizzle uses it. */
export class RemoteDatabase {
  readonly #options: RemoteOptions
  #client: Promise<Client> | undefined
  /** Ends the exchanges of the operation that runs. */
  #end = new AbortController()

  constructor(options: RemoteOptions) {
    this.#options = options
  }

  open(): Promise<void> {
    return this.#withTimeout(async () => {})
  }

  execute(statement: { readonly sql: string; readonly args: unknown[] }) {
    // Drizzle passes on what the queries bind: text, numbers, bigints, booleans and null.
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

  /** A server that does not answer must not keep back all later calls. */
  async #withTimeout<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const { limit } = this.#options
    this.#end = new AbortController()
    const end = () => this.#end.abort(new DOMException('no answer', 'TimeoutError'))
    const timer = setTimeout(end, Math.min(Math.max(limit.remaining, minTimeoutMs), maxTimeoutMs))
    limit.onAbandon(end)
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

/** Milliseconds that the server has for an answer, also when the call has waited for others. */
const minTimeoutMs = 1_000
const maxTimeoutMs = 10_000

/** The rest of an address may hold a secret. */
export function extractHost(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'an address that cannot be read'
}
