import type { ProviderConfig } from '../config/index.ts'
import { cloudNames } from '../core/cloud-credential.ts'
import type { Environment } from '../core/ports.ts'
import type { Credential } from '../core/provider.ts'
import type { ProviderKind } from '../core/provider-kind.ts'
import { findHeaderTextProblem, findQuotes } from '../wire/header-text.ts'

interface Secrets {
  readonly env: Environment
  /** By the provider's name. */
  readonly storedKeys?: ReadonlyMap<string, string> | undefined
  /** Present when the host can find credentials of clouds. */
  readonly openCloud?: unknown
}

/**
 * Finds the credentials of a provider: that of a cloud if it is configured so, else those in the
 * configured variables, else the stored key, else the one in the variables that the vendor's own tools
 * read. A missing or unusable credential fails only the requests to this provider, and only when it has
 * no other.
 */
export function findCredentials(
  entry: ProviderConfig,
  kind: ProviderKind,
  { env, storedKeys, openCloud }: Secrets,
): readonly Credential[] {
  const { name, credentials: cloud } = entry
  if (cloud !== undefined) {
    if (openCloud) return [{ kind: 'cloud', cloud, profile: entry.aws_profile }]
    const state = `this host cannot find ${cloudNames[cloud]} credentials`
    return [{ kind: 'missing', message: `provider ${name} has no credential: ${state}`, state }]
  }
  const variables = listKeyVariables(entry)
  const read = (value: string, place: string): Credential => {
    const problem = findQuotes(value) ?? (kind.checkSecret ?? findHeaderTextProblem)(value, env)
    if (problem === undefined) return { kind: 'secret', value, origin: 'environment', name: place }
    const message = `provider ${name} has no usable credential in ${place}: ${problem}`
    return { kind: 'missing', message, state: `${place} is not usable` }
  }
  // Files that hold a secret often end in a line break.
  const configured = variables.map((variable) => ({ variable, value: env[variable]?.trim() }))
  if (configured.some(({ value }) => value)) {
    return configured.map(({ variable, value }) => {
      if (!value) return missing(`provider ${name} lacks a credential`, [variable])
      const first = configured.find((other) => other.value === value)?.variable ?? variable
      return first === variable ? read(value, variable) : repeated(name, variable, first)
    })
  }
  const stored = storedKeys?.get(name)
  if (stored) return [{ kind: 'secret', value: stored, origin: 'store', name: 'the stored key' }]
  const ambient = variables.length === 0 ? kind.findAmbientSecret?.(env) : undefined
  if (ambient) return [read(ambient, 'the environment')]
  if (variables.length > 0) return [missing(`provider ${name} has no credential`, variables)]
  if (entry.base_url !== undefined || kind.keyless) return [{ kind: 'none' }]
  const message = `provider ${name} has no credential: set api_key_env to the variable that holds its key`
  return [{ kind: 'missing', message, state: 'api_key_env is not set' }]
}

/** The variables that hold the credentials of a provider, in order. */
function listKeyVariables({
  api_key_env: single,
  api_key_envs: several = [],
}: ProviderConfig): readonly string[] {
  return single === undefined ? several : [single, ...several]
}

function missing(what: string, variables: readonly string[]): Credential {
  const isOne = variables.length === 1
  const names = new Intl.ListFormat('en').format(variables)
  const noun = isOne ? 'the variable' : 'the variables'
  const verb = isOne ? 'is unset' : 'are unset'
  return {
    kind: 'missing',
    message: `${what}: ${noun} ${names} ${verb} or empty`,
    state: `${names} ${verb}`,
  }
}

/** The same key twice would be parked in one place and called in the other. */
function repeated(provider: string, variable: string, first: string): Credential {
  const state = `${variable} holds the same key as ${first}`
  return { kind: 'missing', message: `provider ${provider} lacks a credential: ${state}`, state }
}
