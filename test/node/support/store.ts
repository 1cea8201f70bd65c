import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Client, createClient } from '@libsql/client/sqlite3'
import { onTestFinished } from 'vitest'
import { type NodeStoreOptions, openNodeStore } from '../../../adapters/node/ports/store.ts'
import type { Store, StoreSettings } from '../../../src/store/index.ts'

/** The shipped module of the thread. It starts quickly, unlike the source. */
export const threadEntry = pathToFileURL(process.env['BUILT_STORE_WORKER'] ?? '')

/** Creates a folder for the test. */
export function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'gateway-store-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

export type OpenOptions = NodeStoreOptions & Partial<StoreSettings>

/** Opens a database in a file or on a server, like the host. */
export async function openStore(path: string, options: OpenOptions): Promise<Store> {
  const { token, journalFolder, claim, report } = options
  const store = await openNodeStore({ path, token, journalFolder, claim, report }, options)
  onTestFinished(() => store.close())
  return store
}

/** Opens a second connection to the same file, like another process. */
export function connect(path: string): Client {
  const client = createClient({ url: `file:${path}`, concurrency: 1 })
  onTestFinished(() => client.close())
  return client
}

/** Returns the first value of the first row. */
export async function valueOf(path: string, sql: string): Promise<unknown> {
  return (await connect(path).execute(sql)).rows[0]?.[0]
}
