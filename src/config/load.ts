import type { Environment, ReadFile } from '../core/ports.ts'
import type { KindFacts } from '../core/provider.ts'
import { readAuthorities } from './authorities.ts'
import { checkRules } from './check.ts'
import { resolveAliases } from './check-kinds.ts'
import { explain } from './explain.ts'
import { applyOverrides } from './overrides.ts'
import type { Problem } from './problem.ts'
import { type Config, configSchema } from './schema.ts'
import { parseToml, type Table } from './toml.ts'
import { findWarnings } from './warnings.ts'
import { describeIssue, toFindings } from './wording.ts'

/** A configuration that can serve, or everything that keeps this text from being one. */
export type LoadResult =
  | ({ readonly ok: true } & LoadedConfig)
  | { readonly ok: false; readonly problems: readonly Problem[] }

export interface LoadedConfig {
  readonly config: Config
  /** What the file and the environment set, without defaults. */
  readonly set: Table
  readonly warnings: readonly string[]
  /** The text of every `ca_file`, by the name of its provider. */
  readonly authorities: ReadonlyMap<string, string>
}

interface Source {
  /** The configuration file. */
  readonly text: string
  /** The variables that may override it. Whether they hold the providers' keys is not looked at. */
  readonly env: Environment
  /** The provider kinds that `kind` may name. */
  readonly kinds: readonly KindFacts[]
  /** Reads the files that settings name; without it they are left alone. */
  readonly readFile?: ReadFile | undefined
}

/** Reads a configuration: the file, the environment over it, then every rule. Never throws. */
export async function loadConfig({ text, env, kinds, readFile }: Source): Promise<LoadResult> {
  const file = parseToml(text)
  if (!file.ok) return { ok: false, problems: [file.problem] }

  const overridden = applyOverrides(file.table, env)
  const { origins } = overridden
  const parsed = configSchema.safeParse(overridden.table, {
    error: describeIssue,
    reportInput: true,
  })
  const findings = [
    ...overridden.findings,
    ...toFindings(parsed.error),
    ...checkRules(overridden.table, kinds),
  ]
  if (!parsed.success || findings.length > 0) {
    return { ok: false, problems: await explain({ text, findings, origins }) }
  }

  const config = resolveAliases(parsed.data, kinds)
  const authorities = readFile && (await readAuthorities(config, readFile))
  if (authorities && authorities.findings.length > 0) {
    return {
      ok: false,
      problems: await explain({ text, findings: authorities.findings, origins }),
    }
  }
  return {
    ok: true,
    config,
    set: overridden.table,
    warnings: findWarnings(config),
    authorities: authorities?.texts ?? new Map(),
  }
}
