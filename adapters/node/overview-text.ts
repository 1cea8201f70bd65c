import { type Overview, version } from '../../src/index.ts'

/** Where a gateway serves, and what. */
export interface Place {
  readonly address: string
  /** The configuration file; undefined for the demo. */
  readonly file: string | undefined
  /** What the environment says of proxies for outgoing calls; undefined when none is in force. */
  readonly proxies?: Readonly<Record<string, string>> | undefined
}

/** What a person at a terminal sees once the gateway can be reached. */
export function startLines(
  overview: Overview,
  { address, file, proxies = {} }: Place,
): readonly string[] {
  const head = `Model Gateway ${version} listens on ${address}`
  const settings = Object.entries(proxies).map(([name, value]) => `${name}=${value}`)
  return [
    file === undefined ? head : `${head}, configured by ${file}`,
    ...overviewLines(overview),
    ...(settings.length > 0 ? [`  outgoing proxies: ${settings.join(' ')}`] : []),
  ]
}

/** Providers and auth for people, one line each, in columns. */
export function overviewLines({ providers, auth }: Overview): readonly string[] {
  const rows = providers.map(({ name, kind, baseUrl, credential, missing, proxy }) => [
    name,
    kind,
    baseUrl,
    missing === undefined ? credential : `! ${credential}`,
    proxy === undefined ? '' : `proxy ${proxy}`,
  ])
  const access = auth.enabled ? `on, with the database ${auth.database}` : 'off'
  return [...columns(rows), `auth is ${access}`].map((line) => `  ${line}`)
}

/** The same as fields of a log line. */
export function overviewFields({ providers, auth, warnings }: Overview): Record<string, unknown> {
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
function columns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => widthOf(row[at]))))
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

function widthOf(cell = ''): number {
  return cell.length
}
