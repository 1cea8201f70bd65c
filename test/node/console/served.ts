import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { onTestFinished } from 'vitest'
import { type ServedConsole, serveConsole } from '../../../adapters/node/console/server.ts'
import { buildConsole } from '../../../scripts/console.mjs'
import { keyedHost, masterKey, type ServedHost } from '../support/keyed-host.ts'
import { type BuiltThread, folder } from '../support/store.ts'

/** The built page of the console. */
export interface BuiltPage {
  readonly folder: URL
  remove(): void
}

export async function buildPage(): Promise<BuiltPage> {
  const path = mkdtempSync(join(tmpdir(), 'gateway-console-'))
  await buildConsole(path)
  const remove = () => rmSync(path, { recursive: true })
  return { folder: pathToFileURL(`${path}/`), remove }
}

export interface World {
  readonly host: ServedHost
  readonly console: ServedConsole
}

export interface WorldOptions {
  readonly thread: BuiltThread
  readonly page: BuiltPage
  readonly config: string
  readonly env?: Readonly<Record<string, string>>
}

/** A gateway with auth on, and a console in front of it. Both close after the test. */
export async function openWorld({ thread, page, config, env = {} }: WorldOptions): Promise<World> {
  const path = join(folder(), 'gateway.db')
  const host = await keyedHost({ path, config, entry: thread.entry, env })
  const gateway = host.address
  const served = await serveConsole({ gateway, masterKey, port: 0, folder: page.folder })
  onTestFinished(() => served.close())
  return { host, console: served }
}
