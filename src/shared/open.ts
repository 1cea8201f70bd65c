import { type Config, isServerAddress } from '../config/index.ts'
import type { Environment, Log } from '../core/ports.ts'
import {
  type OpenSharedState,
  type SharedState,
  SharedStateFault,
  type SharedStateName,
} from '../core/shared-state.ts'
import { ConfigError, StartError } from '../core/start-error.ts'

export interface SharedStatePorts {
  /** Absent on a host that cannot connect to a server. */
  readonly openShared?: OpenSharedState | undefined
  readonly env: Environment
  readonly log: Log
}

/**
 * Connects to the server of `[shared]`; resolves to undefined without one. Rejects with a `ConfigError`
 * or a `StartError`.
 */
export async function openSharedState(
  { shared }: Config,
  { openShared, env, log }: SharedStatePorts,
): Promise<SharedState | undefined> {
  if (!shared) return undefined
  if (!openShared) throw new ConfigError(['shared: this host cannot share its state'])
  const problems = listUrlProblems(shared, env)
  if (problems.length > 0) throw new ConfigError(problems)
  try {
    return await openShared({ url: getUrl(shared, env), prefix: shared.prefix, log })
  } catch (error) {
    if (!(error instanceof SharedStateFault)) throw error
    throw new StartError(`shared state: ${error.message}`, { cause: error })
  }
}

/** Names the state that this process shares with others; undefined without `[shared]`. */
export function nameSharing(
  { shared }: Config,
  { env }: Pick<SharedStatePorts, 'env'>,
): SharedStateName | undefined {
  if (!shared) return undefined
  const { hostname, port, pathname } = new URL(getUrl(shared, env))
  return {
    prefix: shared.prefix,
    address: `${hostname.toLowerCase()}:${port || '6379'}`,
    database: Number(/\d+$/.exec(pathname)?.[0] ?? '0'),
  }
}

/** The address that the configuration names. One of the two is set and valid: see the checks of the start. */
function getUrl(shared: NonNullable<Config['shared']>, env: Environment): string {
  return shared.url ?? env[shared.url_env ?? ''] ?? ''
}

/** Why the variable that `url_env` names does not hold the address of a server. */
export function listUrlProblems(shared: Config['shared'], env: Environment): readonly string[] {
  const variable = shared?.url_env
  if (variable === undefined) return []
  const url = env[variable]
  if (!url) return [`shared.url_env: the variable ${variable} is unset or empty`]
  if (isServerAddress(url)) return []
  return [`shared.url_env: the variable ${variable} must hold a redis or rediss URL`]
}
