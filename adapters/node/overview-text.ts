import { type Overview, version } from '../../src/index.ts'

/** The address, the configuration file and the proxies of a gateway that listens. */
export interface ListenInfo {
  readonly address: string
  /** The configuration file; undefined for the demo. */
  readonly file: string | undefined
  /** The proxy variables in force for outgoing calls; undefined when there are none. */
  readonly proxies?: Readonly<Record<string, string>> | undefined
}

/** Renders the lines that a terminal shows once the gateway listens. */
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

/** Renders the providers, one line each in aligned columns, and the state of auth. */
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

/** Returns the overview as fields of a log line. */
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

/** Renders rows as text with aligned columns. */
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
