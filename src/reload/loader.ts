import {
  type Config,
  formatPath,
  type LoadedConfig,
  type LoadResult,
  loadConfig,
  type Problem,
  renderFileProblem,
} from '../config/index.ts'
import type { Environment, ReadFile } from '../core/ports.ts'
import type { OpenPrices } from '../core/price-catalogue.ts'
import { ConfigError } from '../core/start-error.ts'
import { kinds } from '../providers/index.ts'
import { findPortWarnings, type HostPorts } from './port-warnings.ts'

export interface LoaderOptions extends HostPorts {
  readonly openPrices?: OpenPrices | undefined
  readonly env?: Environment | undefined
  readonly readFile?: ReadFile | undefined
}

/** Creates the function that validates a text, at the start and at each reload. */
export function createLoader(options: LoaderOptions): (text: string) => Promise<LoadResult> {
  const { env = {}, readFile = cannotReadFiles, openPrices } = options
  return async (text) => {
    const result = await loadConfig({ text, env, kinds, readFile, openPrices })
    if (!result.ok) return result
    const problems = openPrices ? [] : findTableUses(result.config)
    if (problems.length > 0) return { ok: false, problems }
    return { ...result, warnings: [...result.warnings, ...findPortWarnings(result, options)] }
  }
}

/** Without the table nothing would be charged where the operator expects its prices. */
function findTableUses({ providers }: Config): readonly Problem[] {
  return providers.flatMap(({ models }, i) =>
    models.flatMap(({ usesTable }, m) =>
      usesTable ? { setting: formatPath(['providers', i, 'models', m, 'prices']), message } : [],
    ),
  )
}

const message = '"table" needs a table of prices, which this host lacks; nodePorts() includes one'

const cannotReadFiles: ReadFile = () => Promise.reject(new Error('this host cannot read files'))

/** The configuration; throws a `ConfigError` with every problem when it is invalid. `file`: its name in them. */
export function requireValid(result: LoadResult, file?: string): LoadedConfig {
  if (!result.ok) {
    throw new ConfigError(result.problems.map((problem) => renderFileProblem(problem, file)))
  }
  return result
}
