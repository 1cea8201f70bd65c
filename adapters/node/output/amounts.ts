import type { Paint, Style } from './style.ts'

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })
const compact = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 })
const dollars = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' })
const parts = new Intl.NumberFormat('en-US', {
  style: 'currency',
  currency: 'USD',
  maximumSignificantDigits: 3,
})

/** Formats US dollars: to the cent, or with three digits below one dollar. */
export function formatDollars(usd: number): string {
  return usd === 0 || Math.abs(usd) >= 1 ? dollars.format(usd) : parts.format(usd)
}

/** Formats a count with all its digits. */
export function formatCount(count: number): string {
  return whole.format(count)
}

/** Formats a large count, for example `1.2M`. */
export function formatRoughly(count: number): string {
  return compact.format(count)
}

const barCells = 10

/** Renders a share from 0 to 1 as a bar, of which `paint` paints the filled part. */
export function renderBar(share: number, paint: Paint, { dim }: Style): string {
  const filled = Math.min(barCells, Math.max(share > 0 ? 1 : 0, Math.round(share * barCells)))
  return paint('█'.repeat(filled)) + dim('░'.repeat(barCells - filled))
}

const levels = '▂▃▄▅▆▇█'

/** Renders amounts as a line of bars, the highest one full. Zero is the lowest mark. */
export function renderSparkline(amounts: readonly number[]): string {
  const max = Math.max(...amounts)
  const mark = (amount: number) =>
    amount <= 0 ? '▁' : levels.charAt(Math.ceil((amount / max) * levels.length) - 1)
  return amounts.map(mark).join('')
}
