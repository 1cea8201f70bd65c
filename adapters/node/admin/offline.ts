import { textAsFile } from '../../../src/core/config-file.ts'
import {
  createGateway,
  type Environment,
  type Gateway,
  type Log,
  type OpenStore,
} from '../../../src/index.ts'
import { CommandFailure } from '../failures/command-failure.ts'
import { createPorts, openGateway } from '../host/open-gateway.ts'
import { readAdminAnswer } from './answer.ts'
import type { OpenAdminClient } from './api.ts'
import { noteDatabase } from './database-note.ts'

export interface OfflineOptions {
  /** The name of the configuration in messages. */
  readonly name: string
  /** The text of the configuration, in TOML. */
  readonly config: string
  readonly env: Environment
  readonly masterKey: string
  /** As in `StoreSettings`. */
  readonly onMissing: 'create' | 'reject'
}

/**
 * Opens the admin API of a gateway in this process, which has no port and contacts no provider. It
 * claims the database as a running gateway does, so it does not open beside another one.
 */
export async function openOfflineAdmin({
  name,
  config,
  env: given,
  masterKey,
  onMissing,
}: OfflineOptions): Promise<OpenAdminClient> {
  const { gateway, note, close } = await openOfflineGateway({ name, config, env: given, onMissing })
  if (!gateway.overview.auth.enabled) {
    await close()
    throw new CommandFailure(2, `${name}: auth.enabled is false; set it to true to use keys`)
  }
  return {
    async send(method, path, body) {
      const headers = { authorization: `Bearer ${masterKey}` }
      const sent = body && { body: JSON.stringify(body) }
      const request = new Request(`http://gateway${path}`, { method, headers, ...sent })
      const response = await gateway.fetch(request)
      const text = await response.text()
      return readAdminAnswer({ status: response.status, text, gateway: name })
    },
    needsReload: false,
    note,
    close,
  }
}

/** A gateway in this process, without a port. */
export interface OfflineGateway {
  readonly gateway: Gateway
  /** Names its database; undefined with auth off. */
  readonly note: string | undefined
  close(): Promise<void>
}

/** Opens a gateway that contacts no provider unless it is asked to. */
export async function openOfflineGateway({
  name,
  config,
  env: given,
  onMissing,
}: Omit<OfflineOptions, 'masterKey'>): Promise<OfflineGateway> {
  const env = { ...given, GATEWAY_RESILIENCE__HEALTH_CHECK_ENABLED: 'false' }
  const ports = createPorts(env)
  let note: string | undefined
  const openStore: OpenStore = (settings) => {
    note = noteDatabase(settings.path).text
    return ports.openStore({ ...settings, onMissing })
  }
  const configFile = { ...textAsFile(config), name }
  const host = { ...ports, openStore, metrics: undefined, log: () => errorsOnly }
  const options = { ...host, config, configFile, env }
  const gateway = await openGateway(createGateway(options), inUseHint).catch(async (error) => {
    await ports.close()
    throw error
  })
  return {
    gateway,
    note,
    async close() {
      await gateway.close()
      await ports.close()
    },
  }
}

const inUseHint = 'stop it, or pass its address with --url'

/** Standard output is for the result, so only errors are logged, and to standard error. */
const errorsOnly: Log = {
  enabled: (level) => level === 'error',
  write(level, message, fields) {
    if (level !== 'error') return
    const details = fields ? ` ${JSON.stringify(fields)}` : ''
    process.stderr.write(`${message}${details}\n`)
  },
}
