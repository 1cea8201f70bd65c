import { onTestFinished } from 'vitest'
import { type LibsqlServer, startLibsqlServer } from '../../support/libsql-server.ts'

export type { LibsqlServer }

/** Starts a server with a database in memory for the test. `token`: the one that it accepts; all without it. */
export async function libsqlServer(token?: string): Promise<LibsqlServer> {
  const server = await startLibsqlServer({ token })
  onTestFinished(() => server.stop())
  return server
}
