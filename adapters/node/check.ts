import { checkConfig, type Environment, type Overview } from '../../src/index.ts'
import { CommandFailure } from './command-failure.ts'
import { logLevel, logLevelRule } from './log.ts'
import { overviewLines } from './overview-text.ts'
import { readText } from './ports/read-text.ts'

export interface Check {
  /** What the configuration is called in the output. */
  readonly name: string
  /** Its text. */
  readonly config: string
  readonly env: Environment
  /** Fails when a credential is missing. */
  readonly strict: boolean
}

/**
 * Judges a configuration and resolves to the lines that describe it. Fails with exit code 2 for
 * what keeps it from serving, and under `strict` for a credential that is missing.
 */
export async function check({ name, config, env, strict }: Check): Promise<readonly string[]> {
  const verdict = await checkConfig(config, env, readText)
  const problems = [
    ...(verdict.ok ? [] : verdict.problems),
    ...(logLevel(env) ? [] : [logLevelRule]),
  ]
  if (!verdict.ok || problems.length > 0) throw new CommandFailure(2, ...problems)
  const { overview } = verdict
  const missing = missingSecrets(overview, env)
  if (strict && missing.length > 0) throw new CommandFailure(2, ...missing)
  const counts = `${counted(overview.providers.length, 'provider')}, ${counted(overview.models, 'model')}`
  const warnings = new Set([...overview.warnings, ...missing])
  return [
    `${name} is valid: ${counts}`,
    ...overviewLines(overview),
    ...[...warnings].map((warning) => `warning: ${warning}`),
  ]
}

/** Credentials without which requests fail, and the key without which the gateway does not start. */
function missingSecrets({ providers, auth }: Overview, env: Environment): readonly string[] {
  const missing = providers.flatMap(({ missing: message }) => message ?? [])
  const master =
    auth.enabled && !env['GATEWAY_MASTER_KEY']
      ? ['auth is on and GATEWAY_MASTER_KEY is unset, so the gateway cannot start']
      : []
  return [...missing, ...master]
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
