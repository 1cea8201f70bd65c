import type { Environment, ReadFile } from '../core/ports.ts'
import type { OpenPrices } from '../core/price-catalogue.ts'
import type { KindFacts } from '../core/provider-kind.ts'
import { readAuthorities } from './authorities.ts'
import { checkRules } from './check.ts'
import { resolveAliases } from './check-kinds.ts'
import { explain } from './explain.ts'
import { fillPrices, needsPrices } from './fill-prices.ts'
import { applyOverrides } from './overrides.ts'
import type { Problem } from './problem.ts'
import { type Config, configSchema } from './schema.ts'
import { parseToml, type Table } from './toml.ts'
import { uncompiled } from './uncompiled.ts'
import { findWarnings } from './warnings.ts'
import { describeIssue, toFindings } from './wording.ts'

/** A valid configuration, or every problem of the text. */
export type LoadResult =
  | ({ readonly ok: true } & LoadedConfig)
  | { readonly ok: false; readonly problems: readonly Problem[] }

export interface LoadedConfig {
  readonly config: Config
  /** The settings of the file and the environment, without defaults. */
  readonly set: Table
  /** The variables that override settings, by the name of the setting. */
  readonly origins: ReadonlyMap<string, string>
  readonly warnings: readonly string[]
  /** The text of every `ca_file`, by the provider's name. */
  readonly authorities: ReadonlyMap<string, string>
}

interface LoadOptions {
  /** The text of the configuration file. */
  readonly text: string
  /** The variables that may override settings. Missing provider keys are not a problem here. */
  readonly env: Environment
  /** The kinds that a provider may have. */
  readonly kinds: readonly KindFacts[]
  /** Reads each `ca_file`; without it these files are not checked. */
  readonly readFile?: ReadFile | undefined
  /** Opens the table of prices; without it models with `prices = "table"` have the prices of their entries alone. */
  readonly openPrices?: OpenPrices | undefined
}

/** Parses the file, applies the overrides of the environment, then checks every rule. Never rejects. */
export async function loadConfig({
  text,
  env,
  kinds,
  readFile,
  openPrices,
}: LoadOptions): Promise<LoadResult> {
  const file = parseToml(text)
  if (!file.ok) return { ok: false, problems: [file.problem] }

  const overridden = applyOverrides(file.table, env)
  const { origins } = overridden
  const parsed = configSchema.safeParse(overridden.table, {
    error: describeIssue,
    reportInput: true,
    ...uncompiled,
  })
  const findings = [
    ...overridden.findings,
    ...toFindings(parsed.error),
    ...checkRules(overridden.table, kinds),
  ]
  if (!parsed.success || findings.length > 0) {
    return { ok: false, problems: await explain({ text, findings, origins }) }
  }

  const resolved = resolveAliases(parsed.data, kinds)
  const catalogue = needsPrices(resolved) ? await openPrices?.() : undefined
  const config = fillPrices(resolved, catalogue)
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
    origins,
    warnings: findWarnings(config),
    authorities: authorities?.texts ?? new Map(),
  }
}
