import * as z from 'zod'
import { formatCount, formatDollars, formatRoughly, renderBar } from '../output/amounts.ts'
import { createStyle, type Style } from '../output/style.ts'
import { renderTable } from '../output/table.ts'
import { formatTime } from '../output/times.ts'

/** A key or a group in an answer of the admin API, as far as it is shown. */
export const accountSchema = z.looseObject({
  id: z.string(),
  name: z.string(),
  group_id: z.string().nullish(),
  models: z.array(z.string()).nullable(),
  budget_max: z.number().nullable(),
  budget_period: z.string().nullable(),
  budget_spent: z.number(),
  budget_resets_at: z.number().nullable(),
  spent_total: z.number(),
  rpm_limit: z.number().nullable(),
  tpm_limit: z.number().nullable(),
  max_parallel: z.number().nullable(),
  // Absent in answers of former versions.
  priority: z.string().nullish(),
  expires_at: z.number().nullish(),
  disabled: z.boolean().optional(),
  grace_ends_at: z.number().nullish(),
  created_at: z.number(),
  deleted_at: z.number().nullable(),
})

export type AccountRecord = z.infer<typeof accountSchema>

export interface AccountView {
  readonly style: Style
  readonly isTerminal: boolean
  /** In unix seconds. */
  readonly now: number
  /** The names of groups by their ids; a group without one is shown by its id. */
  readonly groups?: ReadonlyMap<string, string>
  /** That of the table, as in `TableText`. */
  readonly width?: number | undefined
}

/** Returns how standard output shows keys and groups now. */
export function createView(): AccountView {
  const now = Math.floor(Date.now() / 1000)
  return { style: createStyle(), isTerminal: process.stdout.isTTY === true, now }
}

/** Renders keys or groups as a table. Short ids and bars are for terminals. */
export function renderAccounts(accounts: readonly AccountRecord[], view: AccountView): string {
  const { style, isTerminal, now, groups = new Map<string, string>(), width } = view
  const hasGroups = accounts.some((account) => account.group_id != null)
  const columns = [
    'ID',
    'NAME',
    ...(hasGroups ? ['GROUP'] : []),
    '>SPENT',
    '>BUDGET',
    ...(isTerminal ? [''] : []),
    'LIMITS',
    'STATE',
  ]
  const rows = accounts.map((account) => [
    style.cyan(isTerminal ? account.id.slice(0, 8) : account.id),
    style.bold(account.name),
    ...(hasGroups ? [groups.get(account.group_id ?? '') ?? account.group_id ?? ''] : []),
    formatDollars(account.budget_spent),
    renderBudget(account),
    ...(isTerminal ? [renderSpend(account, style)] : []),
    renderLimits(account),
    renderState(account, { style, now }),
  ])
  const optional = isTerminal ? [columns.indexOf('')] : []
  return renderTable({ columns, rows, optional, width }, style)
}

/** Renders one key or group, a line for each field that is set. */
export function renderAccount(account: AccountRecord, view: AccountView): string {
  const { style, isTerminal, now, groups } = view
  const group = account.group_id ?? undefined
  const groupName = group === undefined ? undefined : groups?.get(group)
  const bar = isTerminal ? renderSpend(account, style) : ''
  const spent = `${formatDollars(account.budget_spent)} of ${renderBudget(account)}`
  const { budget_resets_at: resets, expires_at: expires, grace_ends_at: grace } = account
  const lines: readonly (readonly [string, string | undefined])[] = [
    ['id', style.cyan(account.id)],
    ['name', style.bold(account.name)],
    ['state', renderState(account, { style, now })],
    ['group', groupName === undefined ? group : `${groupName} ${style.dim(String(group))}`],
    ['models', account.models?.join(', ')],
    ['spent', [spent, bar].filter(Boolean).join('  ')],
    ['resets', resets === null ? undefined : formatTime(resets)],
    ['in total', formatDollars(account.spent_total)],
    ['limits', renderLimits(account)],
    ['priority', account.priority ?? undefined],
    ['expires', expires == null ? undefined : formatTime(expires)],
    ['former secret until', grace == null || grace <= now ? undefined : formatTime(grace)],
    ['created', formatTime(account.created_at)],
  ]
  const shown = lines.filter(([, value]) => value !== undefined && value !== '')
  const width = Math.max(...shown.map(([label]) => label.length))
  return shown.map(([label, value]) => `${style.dim(label.padEnd(width))}  ${value}`).join('\n')
}

function renderBudget({ budget_max: max, budget_period: period }: AccountRecord): string {
  if (max === null) return 'no cap'
  return period === null ? formatDollars(max) : `${formatDollars(max)}/${period}`
}

/** Green, yellow from 80 % of the budget on, red when it is spent. */
function renderSpend(
  { budget_max: max, budget_spent: spent }: AccountRecord,
  style: Style,
): string {
  if (max === null) return ''
  const share = max === 0 ? 1 : spent / max
  const paint = share >= 1 ? style.red : share >= 0.8 ? style.yellow : style.green
  return renderBar(share, paint, style)
}

function renderLimits(account: AccountRecord): string {
  const { rpm_limit: rpm, tpm_limit: tpm, max_parallel: parallel } = account
  return [
    rpm === null ? [] : `${formatCount(rpm)} rpm`,
    tpm === null ? [] : `${formatRoughly(tpm)} tpm`,
    parallel === null ? [] : `${formatCount(parallel)} at once`,
  ]
    .flat()
    .join(', ')
}

function renderState(
  account: AccountRecord,
  { style, now }: Pick<AccountView, 'style' | 'now'>,
): string {
  const { expires_at: expires } = account
  if (account.deleted_at !== null) return style.red('deleted')
  if (account.disabled) return style.yellow('disabled')
  if (expires == null) return style.green('active')
  return expires <= now ? style.red('expired') : style.green(`until ${formatTime(expires)}`)
}
