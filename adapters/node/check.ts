import { checkConfig, type Environment } from '../../src/index.ts'
import { CommandFailure } from './command-failure.ts'
import { logLevel, logLevelRule } from './log.ts'
import { renderOverview } from './overview-text.ts'
import { readText } from './ports/system.ts'
import { ProxySettingError, readProxyRules } from './upstream/proxy-rules.ts'

export interface CheckOptions {
  /** What the configuration is called in the output. */
  readonly name: string
  /** Its text. */
  readonly config: string
  readonly env: Environment
  /** Fails when a credential or a key that the start needs is missing or malformed. */
  readonly strict: boolean
}

/**
 * Judges a configuration and resolves to the lines that describe it. Fails with exit code 2 for
 * what keeps it from serving, and under `strict` for a missing key.
 */
export async function check({
  name,
  config,
  env,
  strict,
}: CheckOptions): Promise<readonly string[]> {
  const verdict = await checkConfig(config, env, readText)
  const problems = [
    ...(verdict.ok ? [] : verdict.problems),
    ...(logLevel(env) ? [] : [logLevelRule]),
    ...listProxyProblems(env),
  ]
  if (!verdict.ok || problems.length > 0) throw new CommandFailure(2, ...problems)
  const { overview, startProblems } = verdict
  const credentials = overview.providers.flatMap(({ missing: message }) => message ?? [])
  const missing = [
    ...credentials,
    ...(overview.auth.enabled && credentials.length > 0 ? [storedKeysNote] : []),
    ...startProblems.map((problem) => `the gateway would not start: ${problem}`),
  ]
  if (strict && missing.length > 0) throw new CommandFailure(2, ...missing)
  const counts = `${formatCount(overview.providers.length, 'provider')}, ${formatCount(overview.models, 'model')}`
  const warnings = new Set([...overview.warnings, ...missing])
  return [
    `${name} is valid: ${counts}`,
    ...renderOverview(overview),
    ...[...warnings].map((warning) => `warning: ${warning}`),
  ]
}

function listProxyProblems(env: Environment): readonly string[] {
  try {
    readProxyRules(env)
    return []
  } catch (error) {
    if (error instanceof ProxySettingError) return [error.message]
    throw error
  }
}

/** A check may run where the database is not, and must not create or change one. */
const storedKeysNote =
  'a provider key that was stored through the admin API does not count here: the check does not open the database'

function formatCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
