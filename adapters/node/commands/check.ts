import { loadConfig, readServerSettings } from '../../../src/config/index.ts'
import { type ConfigVerdict, checkConfig, type Environment } from '../../../src/index.ts'
import { kinds } from '../../../src/providers/index.ts'
import { CommandFailure } from '../failures/command-failure.ts'
import { renderCounts, renderOverview } from '../host/overview-text.ts'
import { logLevel, logLevelRule } from '../log/log.ts'
import { createStyle } from '../output/style.ts'
import { nodeCloudCredentials } from '../ports/cloud-credentials.ts'
import { nodeUpstream } from '../ports/upstream.ts'
import { readText, systemClock } from '../process/system.ts'
import { ProxySettingError, readProxyRules } from '../upstream/proxy-rules.ts'

export interface CheckOptions {
  /** The name of the configuration in the output. */
  readonly name: string
  /** The text of the configuration, in TOML. */
  readonly config: string
  readonly env: Environment
  /** Fails when a credential or a key that the start needs is missing or malformed. */
  readonly strict: boolean
}

/**
 * Validates a configuration and resolves to the lines that describe it. Rejects with a `CommandFailure`
 * of exit code 2 when the configuration is invalid, or when `strict` is set and a key is missing.
 */
export async function check(options: CheckOptions): Promise<readonly string[]> {
  const { name, config, env, strict } = options
  const verdict = await checkWithPorts(options)
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
  const style = createStyle(env)
  const { logFields: proxies } = readProxyRules(env)
  const prices = overview.auth.enabled ? await listPriceWarnings(options) : []
  const warnings = new Set([...overview.warnings, ...missing, ...prices])
  const { host, port } = readServerSettings(config, env)
  return [
    `${style.bold(name)} is valid: ${renderCounts(overview)}`,
    `  listens on ${host.includes(':') ? `[${host}]` : host}:${port}`,
    ...renderOverview(overview, { proxies, style }),
    ...[...warnings].map((warning) => `${style.yellow('warning:')} ${warning}`),
  ]
}

/** Credentials of clouds are fetched as at a start, so that the check can say whether there are any. */
async function checkWithPorts({ name: file, config, env }: CheckOptions): Promise<ConfigVerdict> {
  const upstream = nodeUpstream(
    listProxyProblems(env).length === 0 ? readProxyRules(env) : undefined,
  )
  const { send } = upstream
  try {
    return await checkConfig(config, env, {
      file,
      clock: systemClock,
      upstream: send,
      readFile: readText,
      openPrices: async () => (await import('../prices/index.ts')).openPrices(),
      cloudCredentials: nodeCloudCredentials,
    })
  } finally {
    upstream.close()
  }
}

/** Budgets count by the prices of the file. */
async function listPriceWarnings({ config, env }: CheckOptions): Promise<readonly string[]> {
  const loaded = await loadConfig({ text: config, env, kinds })
  if (!loaded.ok) return []
  const { listFurtherPrices, openShippedTable } = await import('../prices/index.ts')
  const catalogue = await openShippedTable()
  return listFurtherPrices(loaded.config, { catalogue, kinds }).map((further) => {
    const { provider, model, names, maxRatio } = further
    const count = names.length === 1 ? 'a further price' : `${names.length} further prices`
    const effect =
      maxRatio > 1
        ? `a token can cost up to ${Number(maxRatio.toFixed(2))} times what budgets count`
        : 'budgets do not count these fees'
    return `${model} at ${provider}: the ${catalogue.name} has ${count} (${names.join(', ')}); ${effect}; see: gateway prices`
  })
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

/** A check may run without access to the database, and must not create or change one. */
const storedKeysNote =
  'provider keys stored through the admin API are not checked: --check-config does not open the database'
