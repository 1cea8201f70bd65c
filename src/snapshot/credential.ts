import type { ProviderConfig } from '../config/index.ts'
import type { Environment } from '../core/ports.ts'
import type { Credential, ProviderKind } from '../core/provider.ts'
import { findHeaderTextProblem } from '../wire/header-text.ts'

interface Secrets {
  readonly env: Environment
  /** By the provider's name. */
  readonly storedKeys?: ReadonlyMap<string, string> | undefined
}

/**
 * Finds the credential of a provider: the configured variable, else the stored key, else the variables
 * that the vendor's own tools read. A missing or unusable credential fails only the requests to this
 * provider.
 */
export function findCredential(
  entry: ProviderConfig,
  kind: ProviderKind,
  { env, storedKeys }: Secrets,
): Credential {
  const { name, api_key_env: variable } = entry
  const fromEnvironment = (value: string, place: string): Credential => {
    const { checkSecret = findHeaderTextProblem } = kind
    const problem = checkSecret(value, env)
    if (problem === undefined) return { kind: 'secret', value, origin: 'environment' }
    const message = `provider ${name} has no usable credential in ${place}: ${problem}`
    return { kind: 'missing', message, state: `${place} is not usable` }
  }
  // Files that hold a secret often end in a line break.
  const configured = variable === undefined ? undefined : env[variable]?.trim()
  if (variable !== undefined && configured) return fromEnvironment(configured, variable)
  const stored = storedKeys?.get(name)
  if (stored) return { kind: 'secret', value: stored, origin: 'store' }
  const ambient = variable === undefined ? kind.findAmbientSecret?.(env) : undefined
  if (ambient) return fromEnvironment(ambient, 'the environment')
  if (variable !== undefined) {
    const message = `provider ${name} has no credential: the variable ${variable} is unset or empty`
    return { kind: 'missing', message, state: `${variable} is unset` }
  }
  if (entry.base_url !== undefined || kind.keyless) return { kind: 'none' }
  const message = `provider ${name} has no credential: set api_key_env to the variable that holds its key`
  return { kind: 'missing', message, state: 'api_key_env is not set' }
}
