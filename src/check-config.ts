import { startProblems } from './access/index.ts'
import { CloudCredentials } from './cloud/index.ts'
import { loadConfig } from './config/index.ts'
import type { CloudCredentialPort } from './core/cloud-credential.ts'
import type { Overview } from './core/overview.ts'
import type { Clock, Environment, ReadFile, UpstreamPort } from './core/ports.ts'
import type { OpenPrices } from './core/price-catalogue.ts'
import { ConfigError } from './core/start-error.ts'
import { kinds } from './providers/index.ts'
import { requireValid } from './reload/index.ts'
import { listUrlProblems } from './shared/index.ts'
import { buildSnapshot, createOverview } from './snapshot/index.ts'
import { silentLog, webClock, webUpstream } from './web/index.ts'

export type ConfigVerdict =
  | {
      readonly ok: true
      readonly overview: Overview
      /** The variables that a start would need and that are missing or malformed. */
      readonly startProblems: readonly string[]
    }
  | { readonly ok: false; readonly problems: readonly string[] }

/** The ports that a check may use. They have the same meaning as for a gateway. */
export interface CheckPorts {
  /** The name of the file that the text is from, for problems. */
  readonly file?: string | undefined
  readonly readFile?: ReadFile | undefined
  readonly openPrices?: OpenPrices | undefined
  readonly cloudCredentials?: CloudCredentialPort | undefined
  readonly upstream?: UpstreamPort | undefined
  readonly clock?: Clock | undefined
}

/**
 * Validates a configuration as a start would, without opening a port or a database. Files that it names
 * are read, and credentials of clouds fetched, only with the ports for that.
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
  ports: CheckPorts = {},
): Promise<ConfigVerdict> {
  const {
    file,
    readFile,
    openPrices,
    cloudCredentials: fetch,
    upstream = webUpstream,
    clock = webClock,
  } = ports
  const clouds = new CloudCredentials({ fetch, clock, log: silentLog, random: Math.random })
  try {
    const { config, warnings } = requireValid(
      await loadConfig({ text, env, kinds, readFile, openPrices }),
      file,
    )
    const openCloud = fetch && clouds.open
    const snapshot = buildSnapshot(config, { env, clock, upstream, openCloud })
    clouds.follow(snapshot.clouds)
    await clouds.settle()
    return {
      ok: true,
      overview: createOverview({ config, snapshot, warnings }),
      startProblems: [
        ...(await startProblems(config, env)),
        ...listUrlProblems(config.shared, env),
      ],
    }
  } catch (error) {
    if (error instanceof ConfigError) return { ok: false, problems: error.problems }
    throw error
  } finally {
    clouds.close()
  }
}
