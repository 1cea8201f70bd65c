import type { NanoUsd } from './ids.ts'

const nanosPerDollar = 1_000_000_000n

/** Converts nano-dollars to US dollars, rounded to the nearest double. */
export function toUsd(amount: NanoUsd): number {
  // The quotient of two exact integers is rounded once; a larger amount would be rounded twice.
  const nanos = Number(amount)
  if (Number.isSafeInteger(nanos)) return nanos / Number(nanosPerDollar)
  const size = amount < 0n ? -amount : amount
  const fraction = String(size % nanosPerDollar).padStart(9, '0')
  return Number(`${amount < 0n ? '-' : ''}${size / nanosPerDollar}.${fraction}`)
}

/** Formats nano-dollars as US dollars in decimal notation: `0.00125`. */
export function formatUsd(amount: NanoUsd): string {
  const digits = String(amount % nanosPerDollar).padStart(9, '0')
  let end = digits.length
  while (digits[end - 1] === '0') end--
  return `${amount / nanosPerDollar}${end === 0 ? '' : `.${digits.slice(0, end)}`}`
}

/**
 * Converts US dollars, from 0 to 1e20, to nano-dollars. Rounds the decimal notation half up, not the
 * binary value behind it.
 */
export function toNanoUsd(usd: number): NanoUsd {
  // Below 1e-6 a number prints with an exponent.
  const [whole, fraction = ''] = (usd < 1e-6 ? usd.toFixed(10) : String(usd)).split('.')
  return ((BigInt(whole + fraction.padEnd(10, '0').slice(0, 10)) + 5n) / 10n) as NanoUsd
}

const maxUsd = 1e12

/**
 * Converts a cap or a grant in US dollars to nano-dollars. Returns undefined for amounts that are
 * negative, over 1e12, or positive but below half a nano-dollar.
 */
export function parseBudget(usd: number): NanoUsd | undefined {
  if (!(usd >= 0 && usd <= maxUsd)) return undefined
  const amount = toNanoUsd(usd)
  return amount === 0n && usd > 0 ? undefined : amount
}
