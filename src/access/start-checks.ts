import { LockedProviderKeyError } from '../admin/index.ts'
import { MasterKeyError, MasterKeyMismatchError, openMasterKey } from '../auth/index.ts'
import type { Config } from '../config/index.ts'
import { GatewayError } from '../core/errors.ts'
import type { Environment } from '../core/ports.ts'
import { ConfigError, StartError } from '../core/start-error.ts'
import { databaseInUse, databaseShared, StoreFault } from '../store/index.ts'
import { findUnsignedError, UnsignedWebhooksError, unsigned } from '../webhooks/index.ts'

/** The reasons why a gateway could not start in this environment, apart from the database. */
export async function startProblems(
  { auth, webhooks }: Config,
  env: Environment,
): Promise<readonly string[]> {
  if (!auth.enabled) return []
  const masterError = await openMasterKey(env['GATEWAY_MASTER_KEY']).then(
    () => undefined,
    (error: unknown) => error,
  )
  const found = [masterError, findUnsignedError(webhooks, { env, stored: unsigned })].map(
    toStartError,
  )
  return found.flatMap((error) => (error instanceof ConfigError ? error.problems : []))
}

/** Turns the errors that an operator can act on into a `ConfigError` or a `StartError`. */
export function toStartError(error: unknown): unknown {
  if (error instanceof MasterKeyError) return new ConfigError([error.message])
  if (error instanceof UnsignedWebhooksError) {
    return new ConfigError([`${error.setting}: ${error.message}`])
  }
  const problem = storageProblem(error)
  if (problem === undefined) return error
  const code = error instanceof StoreFault ? error.code : undefined
  const isInUse = code === databaseInUse || code === databaseShared
  return new StartError(isInUse ? `${problem}; ${inUseHint}` : problem, { cause: error })
}

const inUseHint =
  'stop it first, give both the same [shared], or start with --allow-second (allowSecond in code) and ' +
  'let each grant the full budgets'

/** Why the database or a secret in it cannot be used; undefined for any other error. */
export function storageProblem(error: unknown): string | undefined {
  const isKnown =
    error instanceof StoreFault ||
    error instanceof MasterKeyMismatchError ||
    error instanceof LockedProviderKeyError
  return isKnown ? error.message : undefined
}

/** LM-5003, for a request that needs the database while it fails: only admin requests do. */
export function storeUnavailable(fault: StoreFault): GatewayError {
  return new GatewayError('LM-5003', `${fault.message}; try again`, { retryAfter: 1_000 })
}
