import type { Command } from 'commander'
import { MasterKeyError, openMasterKey } from '../../src/auth/index.ts'
import type { AdminClient, OpenAdminClient } from './admin/api.ts'
import { connectAdmin } from './admin/http.ts'
import { openOfflineAdmin } from './admin/offline.ts'
import { CommandFailure } from './command-failure.ts'
import { configOption, defaultConfig, readConfigText } from './config-text.ts'
import { getGatewayAddress } from './gateway-address.ts'

export type { AdminClient } from './admin/api.ts'

/** Adds the options of every command that uses the admin API. */
export function addAdminOptions(command: Command): Command {
  return command
    .option(...configOption)
    .option('--url <address>', 'address of the gateway (default: that of the configuration)')
}

/**
 * Runs `work` with the admin API of the gateway that the options of `command` name. When no gateway
 * listens at the address of the configuration, a gateway in this process serves the API instead, on
 * the same database, without a port.
 */
export async function withAdmin<Result>(
  command: Command,
  work: (admin: AdminClient) => Promise<Result>,
): Promise<Result> {
  // An option given before the command belongs to the root command.
  const target: AdminTarget = { ...command.optsWithGlobals(), ...command.opts() }
  const admin = await openAdmin(target)
  return work(admin).finally(() => admin.close())
}

interface AdminTarget {
  readonly config?: string
  readonly url?: string
}

async function openAdmin({ config: path, url }: AdminTarget): Promise<OpenAdminClient> {
  const { env } = process
  const masterKey = await readMasterKey(env['GATEWAY_MASTER_KEY'])
  if (url !== undefined) {
    const address = parseAddress(url)
    const admin = await connectAdmin({ address, masterKey })
    if (admin) return admin
    throw new CommandFailure(1, `no gateway listens at ${address}`)
  }
  const config = await readConfigText(path).catch((failure: unknown) => {
    // A gateway may run without a file: the demo, or one that only the environment configures.
    if (path !== undefined) throw failure
    return failure
  })
  const text = typeof config === 'string' ? config : ''
  const running = await connectAdmin({ address: getGatewayAddress(text, env), masterKey })
  if (running) return running
  if (typeof config !== 'string') throw config
  return openOfflineAdmin({ name: path ?? defaultConfig, config, env, masterKey })
}

async function readMasterKey(value: string | undefined): Promise<string> {
  try {
    await openMasterKey(value)
    // `openMasterKey` rejects a missing value.
    return value as string
  } catch (error) {
    throw error instanceof MasterKeyError ? new CommandFailure(2, error.message) : error
  }
}

/** Returns the address without a slash at its end. */
function parseAddress(text: string): string {
  const { protocol, origin, pathname } = URL.canParse(text) ? new URL(text) : noUrl
  if (/^https?:$/.test(protocol)) return `${origin}${pathname}`.replace(/\/+$/, '')
  throw new CommandFailure(2, '--url: must be an http or https URL, like http://127.0.0.1:8080')
}

const noUrl = { protocol: '', origin: '', pathname: '' }
