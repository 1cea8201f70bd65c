import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { onTestFinished } from 'vitest'
import { type ServedConsole, serveConsole } from '../../../adapters/node/console/server.ts'
import { built } from '../support/command.ts'
import { keyedHost, masterKey, type ServedHost } from '../support/keyed-host.ts'
import { folder, threadEntry } from '../support/store.ts'

/** The built page of the console. */
export const pageFolder = pathToFileURL(join(dirname(built.executable), 'console/'))

export interface World {
  readonly host: ServedHost
  readonly console: ServedConsole
}

export interface WorldOptions {
  readonly config: string
  readonly env?: Readonly<Record<string, string>>
}

/** A gateway with auth on, and a console in front of it. Both close after the test. */
export async function openWorld({ config, env = {} }: WorldOptions): Promise<World> {
  const path = join(folder(), 'gateway.db')
  const host = await keyedHost({ path, config, entry: threadEntry, env })
  const gateway = host.address
  const served = await serveConsole({ gateway, masterKey, port: 0, folder: pageFolder })
  onTestFinished(() => served.close())
  return { host, console: served }
}
