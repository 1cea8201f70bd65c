import type { NanoUsd } from './ids.ts'

const nanosPerDollar = 1_000_000_000n

/** An amount in dollars: the nearest number there is. */
export function toUsd(amount: NanoUsd): number {
  // Of two exact integers the quotient is rounded once; a larger amount would be rounded twice.
  const nanos = Number(amount)
  if (Number.isSafeInteger(nanos)) return nanos / Number(nanosPerDollar)
  const size = amount < 0n ? -amount : amount
  const fraction = String(size % nanosPerDollar).padStart(9, '0')
  return Number(`${amount < 0n ? '-' : ''}${size / nanosPerDollar}.${fraction}`)
}

/**
 * Dollars as whole nano-dollars, rounded half up: what was written, not its binary neighbour. For
 * numbers from 0 to 1e20.
 */
export function toNanoUsd(usd: number): NanoUsd {
  // Below 1e-6 a number prints with an exponent.
  const [whole, fraction = ''] = (usd < 1e-6 ? usd.toFixed(10) : String(usd)).split('.')
  return ((BigInt(whole + fraction.padEnd(10, '0').slice(0, 10)) + 5n) / 10n) as NanoUsd
}

const maxUsd = 1e12

/**
 * A cap or a grant as nano-dollars; undefined for what is negative, over 1e12, or above 0 and still too
 * small for a nano-dollar.
 */
export function parseBudget(usd: number): NanoUsd | undefined {
  if (!(usd >= 0 && usd <= maxUsd)) return undefined
  const amount = toNanoUsd(usd)
  return amount === 0n && usd > 0 ? undefined : amount
}
