import { startProblems } from './access/index.ts'
import { loadConfig } from './config/index.ts'
import type { Overview } from './core/overview.ts'
import type { Environment, ReadFile } from './core/ports.ts'
import { ConfigError } from './core/start-error.ts'
import { kinds } from './providers/index.ts'
import { requireValid } from './reload/index.ts'
import { buildSnapshot, createOverview } from './snapshot/index.ts'
import { webClock, webUpstream } from './web/index.ts'

export type ConfigVerdict =
  | {
      readonly ok: true
      readonly overview: Overview
      /** The variables that a start would need and that are missing or malformed. */
      readonly startProblems: readonly string[]
    }
  | { readonly ok: false; readonly problems: readonly string[] }

/**
 * Validates a configuration as a start would, without opening a port, a database or a connection.
 * Files that it names are read only when `readFile` is given.
 *
 * @example
 * ```ts
 * import { checkConfig } from 'model-gateway'
 *
 * const verdict = await checkConfig('[server]\nprot = 8080', {})
 * if (!verdict.ok) console.error(verdict.problems.join('\n'))
 * // server.prot (line 2): unknown setting; did you mean "port"?
 * ```
 */
export async function checkConfig(
  text: string,
  env: Environment,
  readFile?: ReadFile,
): Promise<ConfigVerdict> {
  try {
    const { config, warnings } = requireValid(await loadConfig({ text, env, kinds, readFile }))
    const snapshot = buildSnapshot(config, { env, clock: webClock, upstream: webUpstream })
    return {
      ok: true,
      overview: createOverview({ config, snapshot, warnings }),
      startProblems: await startProblems(config, env),
    }
  } catch (error) {
    if (error instanceof ConfigError) return { ok: false, problems: error.problems }
    throw error
  }
}
