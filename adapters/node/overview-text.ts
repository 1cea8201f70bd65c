import { type Overview, version } from '../../src/index.ts'

/** Where a gateway serves, and what. */
export interface ListenInfo {
  readonly address: string
  /** The configuration file; undefined for the demo. */
  readonly file: string | undefined
  /** What the environment says of proxies for outgoing calls; undefined when none is in force. */
  readonly proxies?: Readonly<Record<string, string>> | undefined
}

/** What a person at a terminal sees once the gateway can be reached. */
export function renderStartLines(
  overview: Overview,
  { address, file, proxies = {} }: ListenInfo,
): readonly string[] {
  const head = `Model Gateway ${version} listens on ${address}`
  const settings = Object.entries(proxies).map(([name, value]) => `${name}=${value}`)
  return [
    file === undefined ? head : `${head}, configured by ${file}`,
    ...renderOverview(overview),
    ...(settings.length > 0 ? [`  outgoing proxies: ${settings.join(' ')}`] : []),
  ]
}

/** Providers and auth for people, one line each, in columns. */
export function renderOverview({ providers, auth }: Overview): readonly string[] {
  const rows = providers.map(({ name, kind, baseUrl, credential, missing, proxy }) => [
    name,
    kind,
    baseUrl,
    missing === undefined ? credential : `! ${credential}`,
    proxy === undefined ? '' : `proxy ${proxy}`,
  ])
  const access = auth.enabled ? `on, with the database ${auth.database}` : 'off'
  return [...alignColumns(rows), `auth is ${access}`].map((line) => `  ${line}`)
}

/** The same as fields of a log line. */
export function toLogFields({ providers, auth, warnings }: Overview): Record<string, unknown> {
  return {
    providers: providers.map(({ name, kind, baseUrl, proxy, credential }) => ({
      name,
      kind,
      base_url: baseUrl,
      proxy,
      credential,
    })),
    auth,
    warnings,
  }
}

/** Rows as text whose cells begin below each other. */
function alignColumns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => cellWidth(row[at]))))
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

function cellWidth(cell = ''): number {
  return cell.length
}
