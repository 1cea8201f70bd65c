import * as z from 'zod'
import { formatCount, formatDollars } from '../output/amounts.ts'
import type { Style } from '../output/style.ts'
import { renderTable } from '../output/table.ts'
import { formatSecond, formatTime } from '../output/times.ts'

const rowSchema = z.looseObject({
  ts: z.number(),
  request_id: z.string(),
  key_id: z.string().nullable(),
  api: z.string(),
  stream: z.boolean(),
  model: z.string().nullable(),
  model_used: z.string().nullable(),
  provider: z.string().nullable(),
  status: z.number(),
  error_code: z.string().nullable(),
  reason: z.string().nullable(),
  latency_ms: z.number(),
  queued_ms: z.number().nullable(),
  tokens_in: z.number().nullable(),
  tokens_out: z.number().nullable(),
  cost: z.number(),
  cache_hit: z.boolean(),
  attempts: z.number(),
  failed: z.array(
    z.looseObject({
      model: z.string(),
      provider: z.string(),
      reason: z.string(),
      attempts: z.number(),
    }),
  ),
  count: z.number(),
})

type Row = z.infer<typeof rowSchema>

/** A page of `GET /admin/requests`, as far as it is shown. */
export const pageSchema = z.looseObject({
  since: z.number().nullable(),
  until: z.number().nullable(),
  rows: z.array(rowSchema),
  next_cursor: z.string().nullable(),
})

export type RequestsAnswer = z.infer<typeof pageSchema>

export interface RequestsView {
  readonly style: Style
  /** At a terminal ids of keys are short. */
  readonly isTerminal: boolean
  /** The names of keys by their ids. */
  readonly names: ReadonlyMap<string, string>
  /** That of the table, as in `TableText`. */
  readonly width?: number | undefined
}

/** Renders requests as a table, the newest first, each with why it failed. */
export function renderRequests(page: RequestsAnswer, view: RequestsView): string {
  const { since, until, rows, next_cursor: more } = page
  const { style } = view
  const window = since === null ? '' : ` from ${formatTime(since)} to ${formatTime(until ?? since)}`
  if (rows.length === 0) return `Requests${window}: none`
  const columns = ['TIME', 'STATUS', '', 'MODEL', 'SERVED BY', 'KEY', 'REQUEST', 'WHY']
  const cells = rows.map((row) => [
    formatSecond(row.ts),
    renderStatus(row, style),
    renderCode(row),
    row.model ?? style.dim('-'),
    renderServed(row) ?? style.dim('-'),
    renderKey(row, view),
    style.cyan(row.request_id),
    [...listReasons(row)].join('; '),
  ])
  // An id that is cut finds nothing.
  const whole = [columns.indexOf('REQUEST')]
  const optional = ['SERVED BY', 'KEY'].map((title) => columns.indexOf(title))
  const table = renderTable({ columns, rows: cells, whole, optional, width: view.width }, style)
  const note = more === null ? [] : ['', style.dim('there are older ones; --limit shows them')]
  return [style.bold(`Requests${window}, the newest first`), '', table, ...note].join('\n')
}

/** Renders all that is known of requests, a line for each fact. */
export function renderDetails(rows: readonly Row[], view: RequestsView): string {
  return rows.map((row) => renderDetail(row, view)).join('\n\n')
}

function renderDetail(row: Row, view: RequestsView): string {
  const { style } = view
  const { tokens_in: input, tokens_out: output, queued_ms: queued, attempts } = row
  const lines: readonly (readonly [string, string | undefined])[] = [
    ['request', style.cyan(row.request_id)],
    ['time', formatSecond(row.ts)],
    ['status', [renderStatus(row, style), renderCode(row)].filter(Boolean).join(' ')],
    ['reason', row.reason ?? undefined],
    ...row.failed.map((link) => ['failed', describeLink(link)] as const),
    ['model', row.model ?? undefined],
    ['served by', renderServed(row)],
    ['key', row.key_id === null ? undefined : renderKey(row, view)],
    ['api', row.stream ? `${row.api}, streamed` : row.api],
    ['took', `${formatCount(row.latency_ms)} ms`],
    ['waited', queued === null ? undefined : `${formatCount(queued)} ms for room`],
    ['calls', row.cache_hit ? 'none: the cache answered' : formatCount(attempts)],
    [
      'tokens',
      input === null ? undefined : `${formatCount(input)} in, ${formatCount(output ?? 0)} out`,
    ],
    ['cost', row.cost === 0 ? undefined : formatDollars(row.cost)],
  ]
  const shown = lines.filter(([, value]) => value !== undefined)
  const width = Math.max(...shown.map(([label]) => label.length))
  return shown.map(([label, value]) => `${style.dim(label.padEnd(width))}  ${value}`).join('\n')
}

function renderStatus({ status }: Row, style: Style): string {
  const paint = status >= 500 ? style.red : status >= 400 ? style.yellow : style.green
  return paint(String(status))
}

/** `×` and the number of requests of a row that stands for several. */
function renderCode({ error_code: code, count }: Row): string {
  return [code ?? '', count > 1 ? `×${formatCount(count)}` : ''].filter(Boolean).join(' ')
}

function renderServed({ model, model_used: used, provider }: Row): string | undefined {
  if (provider === null) return undefined
  return used === null || used === model ? provider : `${used} at ${provider}`
}

function renderKey({ key_id: id }: Row, { names, style, isTerminal }: RequestsView): string {
  if (id === null) return style.dim('-')
  const shown = isTerminal ? id.slice(0, 8) : id
  const name = names.get(id)
  return name === undefined ? shown : `${name} ${style.dim(shown)}`
}

function* listReasons({ reason, failed }: Row): Generator<string> {
  if (reason !== null) yield reason
  for (const link of failed) yield describeLink(link)
}

function describeLink({ model, provider, reason, attempts }: Row['failed'][number]): string {
  return `${model} at ${provider} ${reason}${attempts > 1 ? `, ${attempts} attempts` : ''}`
}
