import * as z from 'zod'
import { formatCount, formatDollars, formatRoughly, renderBar } from '../output/amounts.ts'
import type { Style } from '../output/style.ts'
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
  /** In unix seconds. */
  readonly now: number
}

/** Renders keys or groups as a table. */
export function renderAccounts(
  accounts: readonly AccountRecord[],
  { style, now }: AccountView,
): Promise<string> {
  const columns = ['ID', 'NAME', '>SPENT', '>BUDGET', '', 'LIMITS', 'STATE']
  const rows = accounts.map((account) => [
    style.cyan(account.id.slice(0, 8)),
    style.bold(account.name),
    formatDollars(account.budget_spent),
    renderBudget(account),
    renderSpend(account, style),
    renderLimits(account),
    renderState(account, { style, now }),
  ])
  return renderTable({ columns, rows }, style)
}

/** Renders one key or group, a line for each field that is set. */
export function renderAccount(account: AccountRecord, { style, now }: AccountView): string {
  const bar = renderSpend(account, style)
  const spent = `${formatDollars(account.budget_spent)} of ${renderBudget(account)}`
  const { budget_resets_at: resets, expires_at: expires, grace_ends_at: grace } = account
  const lines: readonly (readonly [string, string | undefined])[] = [
    ['id', style.cyan(account.id)],
    ['name', style.bold(account.name)],
    ['state', renderState(account, { style, now })],
    ['group', account.group_id ?? undefined],
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
