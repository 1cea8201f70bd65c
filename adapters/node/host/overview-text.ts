import { type Overview, type ProviderOverview, version } from '../../../src/index.ts'
import type { Paint, Style } from '../output/style.ts'
import { describeDatabase } from '../store/file-path.ts'

/** The address, the configuration file and the proxies of a gateway that listens. */
export interface ListenInfo {
  readonly address: string
  /** The configuration file; undefined for the demo. */
  readonly file: string | undefined
  /** How many workers there are; undefined for a gateway that is one process. */
  readonly workers?: number | undefined
  /** The proxy variables in force for outgoing calls; undefined when there are none. */
  readonly proxies?: Readonly<Record<string, string>> | undefined
}

export interface OverviewText extends Pick<ListenInfo, 'proxies'> {
  readonly style: Style
}

/** Renders the lines that a terminal shows once the gateway listens. */
export function renderStartLines(
  overview: Overview,
  { address, file, workers, proxies, style }: ListenInfo & OverviewText,
): readonly string[] {
  const head = `${style.bold(`Model Gateway ${version}`)} listens on ${style.cyan(address)}`
  const crew = workers === undefined ? '' : `, with ${workers} workers`
  return [
    `${head}${crew}${file === undefined ? '' : `, configured by ${file}`}`,
    `  ${renderCounts(overview)}`,
    ...renderOverview(overview, { proxies, style }),
  ]
}

/** Renders how many providers, models and routes there are: `2 providers, 3 models, 1 route`. */
export function renderCounts({ providers, models, routes }: Overview): string {
  const counts = [formatCount(providers.length, 'provider'), formatCount(models, 'model')]
  return [...counts, ...(routes > 0 ? [formatCount(routes, 'route')] : [])].join(', ')
}

/** Renders the providers, one line each in aligned columns, and the state of auth, cache and proxies. */
export function renderOverview(
  { providers, auth, cache, shared }: Overview,
  { proxies = {}, style }: OverviewText,
): readonly string[] {
  const rows = providers.map((provider) => renderProvider(provider, style))
  const settings = Object.entries(proxies).map(([name, value]) => `${name}=${value}`)
  return [
    ...alignColumns(rows),
    ...providers.flatMap(renderProfiles),
    ...providers.flatMap(renderDiscovery),
    auth.enabled
      ? `auth is on, with the database ${describeDatabase(auth.database)}`
      : 'auth is off: every client that reaches the gateway may use its models',
    cache.enabled
      ? `cache is on for ${formatCount(cache.models, 'model')}, with at most ${formatSize(cache.maxBytes)}`
      : 'cache is off',
    ...(shared.enabled ? [`state is shared at ${shared.server} as ${shared.prefix}`] : []),
    ...(settings.length > 0 ? [`outgoing proxies: ${settings.join(' ')}`] : []),
  ].map((line) => `  ${line}`)
}

/** Returns the overview as fields of a log line: all of it for programs, short fields for people. */
export function toLogFields(overview: Overview): Record<string, unknown> {
  return overview.logFormat === 'json' ? listAllFields(overview) : listShortFields(overview)
}

function listAllFields(overview: Overview): Record<string, unknown> {
  const { providers, models, routes, auth, cache, shared, warnings } = overview
  return {
    providers: providers.map(({ name, kind, baseUrl, proxy, credential, profiles }) => ({
      name,
      kind,
      base_url: baseUrl,
      proxy,
      credential,
      ...(profiles.length > 0 && { profiles }),
    })),
    models,
    routes,
    auth: auth.enabled ? { ...auth, database: describeDatabase(auth.database) } : auth,
    cache: cache.enabled
      ? { enabled: true, models: cache.models, max_bytes: cache.maxBytes }
      : cache,
    ...(shared.enabled && { shared }),
    warnings,
  }
}

function renderDiscovery({ name, listInterval }: ProviderOverview): readonly string[] {
  if (listInterval === undefined) return []
  return [`patterns of ${name} serve what its vendor lists, read every ${listInterval / 1000} s`]
}

/** Missing credentials and other warnings have lines of their own. */
function listShortFields(overview: Overview): Record<string, unknown> {
  const { providers, models, routes, auth, cache, shared } = overview
  return {
    providers: providers.map(({ name }) => name).join(','),
    models,
    routes,
    auth: auth.enabled ? 'on' : 'off',
    ...(auth.enabled && { database: describeDatabase(auth.database) }),
    cache: cache.enabled ? 'on' : 'off',
    ...(shared.enabled && { shared: shared.server }),
  }
}

interface Cell {
  readonly text: string
  readonly paint?: Paint
}

function renderProvider(provider: ProviderOverview, style: Style): readonly Cell[] {
  const { name, kind, baseUrl, credential, missing, proxy } = provider
  return [
    { text: name, paint: style.bold },
    { text: kind, paint: style.dim },
    { text: baseUrl },
    missing === undefined
      ? { text: credential, paint: style.green }
      : { text: `! ${credential}`, paint: style.red },
    { text: proxy === undefined ? '' : `proxy ${proxy}`, paint: style.dim },
  ]
}

/** The default profile of a kind says nothing that the line of the provider does not. */
function renderProfiles({ name, kind, profiles }: ProviderOverview): readonly string[] {
  return profiles
    .filter(({ origin }) => origin !== `${kind} (kind)`)
    .map(({ origin, models }) => `profile of ${name}: ${origin}, for ${listShortly(models)}`)
}

/** At most three ids, and how many more there are. */
function listShortly(ids: readonly string[]): string {
  const more = ids.length > 3 ? ` and ${ids.length - 3} more` : ''
  return ids.slice(0, 3).join(', ') + more
}

/** Renders rows as text with aligned columns. */
function alignColumns(rows: readonly (readonly Cell[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, at) =>
    Math.max(...rows.map((row) => row[at]?.text.length ?? 0)),
  )
  return rows.map((row) =>
    row
      .map(({ text, paint }, at) => {
        const blanks = ' '.repeat((widths[at] ?? 0) - text.length)
        return (paint ? paint(text) : text) + blanks
      })
      .join('  ')
      .trimEnd(),
  )
}

function formatCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB']

/** Formats a size in the largest unit that gives at least 1: `256 MiB`. */
function formatSize(bytes: number): string {
  const step = Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10))
  return `${Math.round((bytes / 1024 ** step) * 10) / 10} ${units[step]}`
}
