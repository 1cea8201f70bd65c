import {
  type LoadedConfig,
  type LoadResult,
  loadConfig,
  renderFileProblem,
} from '../config/index.ts'
import type { Environment, ReadFile } from '../core/ports.ts'
import { ConfigError } from '../core/start-error.ts'
import { kinds } from '../providers/index.ts'
import { findPortWarnings, type HostPorts } from './port-warnings.ts'

export interface LoaderOptions extends HostPorts {
  readonly env?: Environment | undefined
  readonly readFile?: ReadFile | undefined
}

/** Creates the function that validates a text, at the start and at each reload. */
export function createLoader(options: LoaderOptions): (text: string) => Promise<LoadResult> {
  const { env = {}, readFile = cannotReadFiles } = options
  return async (text) => {
    const result = await loadConfig({ text, env, kinds, readFile })
    if (!result.ok) return result
    return { ...result, warnings: [...result.warnings, ...findPortWarnings(result, options)] }
  }
}

const cannotReadFiles: ReadFile = () => Promise.reject(new Error('this host cannot read files'))

/** The configuration; throws a `ConfigError` with every problem when it is invalid. `file`: its name in them. */
export function requireValid(result: LoadResult, file?: string): LoadedConfig {
  if (!result.ok) {
    throw new ConfigError(result.problems.map((problem) => renderFileProblem(problem, file)))
  }
  return result
}
