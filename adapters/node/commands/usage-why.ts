import * as z from 'zod'
import type { AdminClient } from '../admin/client.ts'
import { formatCount } from '../output/amounts.ts'
import type { Style } from '../output/style.ts'
import { renderTable } from '../output/table.ts'
import { formatTime } from '../output/times.ts'

/** A line of a cost in answers of the admin API. */
export const lineSchema = z.looseObject({
  name: z.string(),
  count: z.number(),
  price: z.number(),
  per: z.number(),
  cost: z.number(),
})

const rowSchema = z.looseObject({
  ts: z.number(),
  latency_ms: z.number(),
  // Absent in answers of former versions.
  queued_ms: z.number().nullish(),
  model: z.string(),
  model_used: z.string().nullable(),
  provider: z.string(),
  tier: z.string().nullable(),
  price: z.string().nullable(),
  cost: z.number(),
  cost_source: z.string().nullable(),
  cost_calculated: z.number().nullable(),
  reserved: z.number().nullable(),
  calculated: z.number().nullable(),
  is_exact: z.boolean(),
  lines: z.array(lineSchema),
})

type Row = z.infer<typeof rowSchema>

const answerSchema = z.looseObject({ rows: z.array(rowSchema) })

/** Resolves to the rows of a request, each with the lines of its cost. */
export async function readCost(admin: AdminClient, id: string): Promise<readonly Row[]> {
  const path = `/admin/usage/rows/${encodeURIComponent(id)}`
  return answerSchema.parse(await admin.send('GET', path)).rows
}

/** Renders what the cost of a request is made of. */
export function renderCost(rows: readonly Row[], style: Style): string {
  return rows.map((row) => renderRow(row, style)).join('\n\n')
}

function renderRow(row: Row, style: Style): string {
  const { model, model_used: used, provider, ts, tier, price, cost, reserved } = row
  const { queued_ms: queued } = row
  const facts = [
    `${used ?? model} at ${provider}`,
    formatTime(ts),
    ...(tier === null ? [] : [`tier ${tier}`]),
    ...(price === null ? [] : [price]),
    ...(queued == null ? [] : [`waited ${formatCount(queued)} ms for room`]),
  ]
  const lines = row.lines.map(({ name, count, price: each, per, cost: part }) => [
    name.replaceAll('_', ' '),
    formatCount(count),
    `× $${each} / ${formatCount(per)}`,
    formatAmount(part),
  ])
  const source = row.cost_source === null ? 'not priced' : row.cost_source
  const total = [style.bold('cost'), '', source, style.bold(formatAmount(cost))]
  const reserve = reserved === null ? [] : [['reserved', '', '', formatAmount(reserved)]]
  const stated =
    row.cost_calculated === null ? [] : [['calculated', '', '', formatAmount(row.cost_calculated)]]
  const columns = ['', '>COUNT', 'PRICE', '>US DOLLARS']
  const table = renderTable({ columns, rows: [...lines, ...stated, total, ...reserve] }, style)
  return [style.bold(facts.join(', ')), '', table, ...listNotes(row).map(style.dim)].join('\n')
}

function listNotes({ lines, calculated, is_exact: isExact, cost_source: source }: Row): string[] {
  if (source === 'free' || source === null) return []
  if (calculated === null) return ['the row is from before its prices were kept']
  if (lines.length === 0 && !isExact) return ['the prices of the row are not known']
  return isExact ? [] : ['the lines do not add up to the cost']
}

/** With all decimals that a nano-dollar has. */
function formatAmount(usd: number): string {
  return usd.toFixed(9)
}
