import type { Client, InStatement } from '@libsql/client'
import { drizzle } from 'drizzle-orm/libsql/sqlite3'
import { StoreFault } from '../../../src/store/index.ts'
import { faultMessage } from './fault.ts'
import { migrateDatabase } from './migrations.ts'

export interface RemoteOptions {
  readonly url: string
  readonly token: string | undefined
}

/** A database on a libSQL server, as Drizzle uses it. */
export class RemoteDatabase {
  readonly #options: RemoteOptions
  #client: Promise<Client> | undefined

  constructor(options: RemoteOptions) {
    this.#options = options
  }

  async open(): Promise<void> {
    await this.#ready()
  }

  async execute(statement: { readonly sql: string; readonly args: unknown[] }) {
    // Drizzle passes on what the queries bind: text, numbers, bigints, booleans and null.
    return (await this.#ready()).execute(statement as InStatement)
  }

  async batch(statements: InStatement[]) {
    return (await this.#ready()).batch(statements, 'write')
  }

  async close(): Promise<void> {
    const client = await this.#client?.catch(() => undefined)
    client?.close()
    this.#client = undefined
  }

  #ready(): Promise<Client> {
    this.#client ??= openClient(this.#options).catch((error: unknown) => {
      this.#client = undefined
      throw error
    })
    return this.#client
  }
}

async function openClient({ url, token }: RemoteOptions): Promise<Client> {
  let client: Client | undefined
  try {
    const { createClient } = await import('@libsql/client/http')
    client = createClient({ url, fetch: fetchInTime, ...(token && { authToken: token }) })
    await migrateDatabase(drizzle({ client }))
    return client
  } catch (error) {
    client?.close()
    throw new StoreFault(`cannot open the database at ${hostOf(url)}: ${faultMessage(error)}`)
  }
}

/** A server that does not answer must not keep back all later calls. */
function fetchInTime(request: Request): Promise<Response> {
  return fetch(request, { signal: AbortSignal.timeout(answerTimeout) })
}

const answerTimeout = 10_000

/** The rest of an address may hold a secret. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'an address that cannot be read'
}
