import type { Sums } from './spend-sums.ts'

/** Renders the table of a query as CSV (RFC 4180), with the amounts unrounded. `nameOf`: the name of a row. */
export function toCsv({ by, groups }: Sums, nameOf: (id: string) => string): string {
  const counts = ['requests', 'served', 'refused', 'failed', 'tokens_in', 'tokens_out']
  const head = [by, 'id', 'cost_usd', ...counts]
  const rows = groups.map((sum) => [
    nameOf(sum.group),
    sum.group,
    sum.cost,
    sum.requests,
    sum.requests_ok,
    sum.requests_client_error,
    sum.requests_server_error,
    sum.tokens_in,
    sum.tokens_out,
  ])
  return [head, ...rows].map((row) => `${row.map(toField).join(',')}\r\n`).join('')
}

function toField(value: string | number): string {
  if (typeof value === 'number') return String(value)
  // A spreadsheet would run a name that begins like a formula.
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
