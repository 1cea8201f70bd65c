import type { Command } from 'commander'
import { MasterKeyError, openMasterKey } from '../../../src/auth/index.ts'
import type { Millis } from '../../../src/core/ids.ts'
import type { Environment } from '../../../src/index.ts'
import { configOption, readConfigText } from '../config/config-text.ts'
import { CommandFailure } from '../failures/command-failure.ts'
import { withProgress } from '../output/progress.ts'
import { printNote } from '../process/print.ts'
import type { AdminClient, OpenAdminClient } from './api.ts'
import { getGatewayAddress } from './gateway-address.ts'
import { connectAdmin } from './http.ts'

export type { AdminClient } from './api.ts'

/** Adds the options of every command that uses the admin API. */
export function addAdminOptions(command: Command): Command {
  return command
    .option(...configOption)
    .option('--url <address>', 'address of the gateway (default: that of the configuration)')
}

export interface AdminAccess {
  readonly command: Command
  /** What to do without a database and without a running gateway; `reject` by default. */
  readonly onMissing?: 'create' | 'reject'
  /** How long a running gateway may take for an answer; 0 for no limit. By default 10 s. */
  readonly answerTimeout?: Millis
}

/**
 * Runs `work` with the admin API of the gateway that the options of `command` name. When no gateway
 * listens at the address of the configuration, a gateway in this process serves the API instead, on
 * the same database, without a port. Without a master key, or while a gateway at an unknown address
 * uses the database, the part that does no harm then works on the database alone. Standard error then names the
 * database. Rejects with `DatabaseMissing` when there is none to work on.
 */
export async function withAdmin<Result>(
  { command, onMissing = 'reject', answerTimeout }: AdminAccess,
  work: (admin: AdminClient) => Promise<Result>,
): Promise<Result> {
  // An option given before the command belongs to the root command.
  const target: AdminTarget = {
    ...command.optsWithGlobals(),
    ...command.opts(),
    answerTimeout,
  }
  const admin = await withProgress('opening the admin API', openAdmin(target, onMissing))
  if (admin.note !== undefined) await printNote(admin.note)
  const send: AdminClient['send'] = (method, path, body) =>
    withProgress('waiting for the gateway', admin.send(method, path, body))
  return work({ send, needsReload: admin.needsReload }).finally(() => admin.close())
}

interface AdminTarget {
  readonly config?: string
  readonly url?: string
  readonly answerTimeout?: Millis | undefined
}

async function openAdmin(
  target: AdminTarget,
  onMissing: 'create' | 'reject',
): Promise<OpenAdminClient> {
  const { env } = process
  const masterKey = await readMasterKey(env['GATEWAY_MASTER_KEY']).catch(
    (missing: CommandFailure) => {
      if (env['GATEWAY_MASTER_KEY'] || target.url !== undefined) throw missing
      return missing
    },
  )
  const local = { path: target.config, onMissing }
  if (typeof masterKey !== 'string') return (await loadLocal()).openDatabase(local, masterKey)
  const { address, config } = await findAddress(target, env)
  const { answerTimeout } = target
  const running = await connectAdmin({ address, masterKey, answerTimeout })
  if (running) return running
  if (config === undefined) throw nothingListens(address)
  if (typeof config !== 'string') throw config
  return (await loadLocal()).openLocal({ ...local, config, masterKey })
}

/** The gateway itself, which a command that finds a running one does without. */
function loadLocal() {
  return import('./local.ts')
}

/** A gateway that is running. */
export interface RunningGateway {
  /** Without a slash at its end, for example `http://127.0.0.1:8080`. */
  readonly address: string
  readonly masterKey: string
}

/**
 * Returns the running gateway that the options of `command` name, after it has accepted the master
 * key. Rejects with a `CommandFailure` when there is none, or when it refuses the key.
 */
export async function findRunningGateway(command: Command): Promise<RunningGateway> {
  const target: AdminTarget = { ...command.optsWithGlobals(), ...command.opts() }
  const { env } = process
  const masterKey = await readMasterKey(env['GATEWAY_MASTER_KEY'])
  const { address } = await findAddress(target, env)
  const admin = await connectAdmin({ address, masterKey })
  if (!admin) throw nothingListens(address)
  await admin.send('GET', '/admin/status').finally(() => admin.close())
  return { address, masterKey }
}

interface Place {
  readonly address: string
  /** The text of the configuration, or why it cannot be read; undefined where `--url` decides. */
  readonly config: string | CommandFailure | undefined
}

async function findAddress({ config: path, url }: AdminTarget, env: Environment): Promise<Place> {
  if (url !== undefined) return { address: parseAddress(url), config: undefined }
  const config = await readConfigText(path).catch((failure: CommandFailure) => {
    // A gateway may run without a file: the demo, or one that only the environment configures.
    if (path !== undefined) throw failure
    return failure
  })
  return { address: getGatewayAddress(typeof config === 'string' ? config : '', env), config }
}

function nothingListens(address: string): CommandFailure {
  return new CommandFailure(1, `no gateway listens at ${address}`)
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
