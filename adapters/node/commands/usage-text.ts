import {
  formatCount,
  formatDollars,
  formatRoughly,
  renderBar,
  renderSparkline,
} from '../output/amounts.ts'
import type { Style } from '../output/style.ts'
import { renderTable } from '../output/table.ts'
import { formatTime } from '../output/times.ts'
import type { GroupSum, UsageGroup, UsageReport } from './usage-query.ts'

export interface UsageView {
  readonly style: Style
  readonly isTerminal: boolean
  /** That of the table, as in `TableText`. */
  readonly width?: number | undefined
  /** The maximum number of rows. */
  readonly limit: number
}

/** Renders usage as a table: the most expensive groups first, each with a line of bars over time. */
export function renderUsage(usage: UsageReport, view: UsageView): string {
  const { filters, groups, interval, starts, truncated } = usage
  const { style, limit } = view
  const title = `Usage from ${formatTime(filters.since)} to ${formatTime(filters.until)}`
  if (groups.length === 0) return `${title}: none`
  // Without prices every cost is 0, and the tokens show more.
  const measure = groups.some(({ cost }) => cost > 0) ? costs : tokens
  const total = sumGroups(groups)
  const columns = [
    filters.groupBy.toUpperCase().replace(/_ID$/, ''),
    `${measure.title} BY ${interval.toUpperCase()}`,
    '>COST',
    ...(view.isTerminal ? ['SHARE'] : []),
    '>REQUESTS',
    '>FAILED',
    '>TOKENS IN',
    '>CACHED',
    '>TOKENS OUT',
  ]
  const share = (sum: GroupSum) =>
    measure.of(total) === 0 ? 0 : measure.of(sum) / measure.of(total)
  const rows = [...groups.slice(0, limit), total].map((group) => [
    group === total ? style.bold('total') : renderName(group, view),
    style.cyan(renderSparkline(listAmounts(group, starts, measure))),
    style.bold(formatDollars(group.cost)),
    ...(view.isTerminal
      ? [group === total ? '' : renderBar(share(group), style.green, style)]
      : []),
    formatCount(group.requests),
    renderFailed(group, style),
    formatRoughly(group.tokens_in),
    renderCached(group, style),
    formatRoughly(group.tokens_out),
  ])
  // The bars go before a name is hard to read.
  const optional = view.isTerminal ? [columns.indexOf('SHARE'), 1] : []
  const hidden = groups.length - limit
  const notes = [
    hidden > 0 ? `${hidden} more rows; --limit shows them` : [],
    truncated ? 'more than 1,000 rows: the total covers the first 1,000' : [],
  ].flat()
  const table = renderTable({ columns, rows, optional, width: view.width }, style)
  return [style.bold(title), '', table, ...notes.map((note) => style.dim(note))].join('\n')
}

type Amounts = Pick<GroupSum, 'cost' | 'tokens_in' | 'tokens_out'>

const costs = { title: 'COST', of: (sum: Amounts) => sum.cost }
const tokens = { title: 'TOKENS', of: (sum: Amounts) => sum.tokens_in + sum.tokens_out }

/** Returns the amount of each interval that begins at one of `starts`. */
function listAmounts(
  { intervals }: GroupSum,
  starts: readonly number[],
  measure: typeof costs,
): number[] {
  const amounts = new Map<number, number>()
  for (const part of intervals) {
    amounts.set(part.start, (amounts.get(part.start) ?? 0) + measure.of(part))
  }
  return starts.map((start) => amounts.get(start) ?? 0)
}

function renderName({ group, name }: UsageGroup, { style, isTerminal }: UsageView): string {
  if (group === '') return style.dim('none')
  if (name === undefined) return group
  return `${name} ${style.dim(isTerminal ? group.slice(0, 8) : group)}`
}

function renderFailed({ requests, requests_ok: ok }: GroupSum, style: Style): string {
  const failed = requests - ok
  return failed === 0 ? style.dim('0') : style.red(formatCount(failed))
}

/** The share of the prompts that vendors have read from their caches. */
function renderCached({ tokens_in: all, cached_tokens: cached }: GroupSum, { dim }: Style): string {
  return all === 0 ? dim('-') : `${Math.floor((100 * cached) / all)}%`
}

/** Adds up the groups; the intervals are those of all groups. */
function sumGroups(groups: readonly UsageGroup[]): UsageGroup {
  const add = (of: (sum: GroupSum) => number) => groups.reduce((sum, group) => sum + of(group), 0)
  return {
    group: 'total',
    name: undefined,
    requests: add((sum) => sum.requests),
    requests_ok: add((sum) => sum.requests_ok),
    tokens_in: add((sum) => sum.tokens_in),
    tokens_out: add((sum) => sum.tokens_out),
    cached_tokens: add((sum) => sum.cached_tokens),
    cost: add((sum) => sum.cost),
    intervals: groups.flatMap(({ intervals }) => intervals),
  }
}

/** Renders the sums as comma-separated values (RFC 4180) with a line of titles. */
export function toCsv({ filters, groups }: UsageReport): string {
  const titles = [filters.groupBy, 'name', ...csvFields]
  const lines = groups.map((sum) => [
    escapeFormula(sum.group),
    escapeFormula(sum.name ?? ''),
    ...csvFields.map((field) => String(sum[field] ?? '')),
  ])
  return [titles, ...lines].map((line) => line.map(quote).join(',')).join('\n')
}

const csvFields = [
  'requests',
  'requests_ok',
  'requests_client_error',
  'requests_server_error',
  'tokens_in',
  'cached_tokens',
  'cached_share',
  'tokens_out',
  'tokens_total',
  'estimated_requests',
  'search_units',
  'media_count',
  'cost',
]

/**
 * Puts an apostrophe before a text that a spreadsheet would run as a formula: names may come from users.
 *
 * @see https://owasp.org/www-community/attacks/CSV_Injection
 */
function escapeFormula(text: string): string {
  return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
}

function quote(value: string): string {
  return /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value
}
