import type { NanoUsd } from '../core/ids.ts'

/** The largest budget that a key or a group can have: 1e12 USD. */
export const maxBudget = 1_000_000_000_000_000_000_000n as NanoUsd

const nanosPerUsd = 1_000_000_000n

/** An amount as its two columns hold it: whole dollars, rounded down, and billionths from 0 up. */
export interface Amount {
  readonly usd: bigint
  readonly nano: bigint
}

export function splitAmount(money: NanoUsd): Amount {
  return { usd: toWholeUsd(money), nano: toBillionths(money) }
}

/** Returns the whole dollars of an amount, rounded down. */
export function toWholeUsd(money: NanoUsd): bigint {
  const usd = money / nanosPerUsd
  // Division of bigints rounds toward zero.
  return money < 0n && money % nanosPerUsd !== 0n ? usd - 1n : usd
}

/** Returns the billionths of a dollar above the whole dollars, 0 to 999,999,999. */
export function toBillionths(money: NanoUsd): bigint {
  const nano = money % nanosPerUsd
  return nano < 0n ? nano + nanosPerUsd : nano
}

export function joinAmount(usd: number, nano: number): NanoUsd {
  // The two columns hold one amount.
  return (BigInt(usd) * nanosPerUsd + BigInt(nano)) as NanoUsd
}

export function joinCap(usd: number | null, nano: number | null): NanoUsd | null {
  return usd === null || nano === null ? null : joinAmount(usd, nano)
}

/** The columns of a cap; null in both means no cap. */
export function capColumns(cap: NanoUsd | null) {
  if (cap === null) return { budgetMaxUsd: null, budgetMaxNano: null }
  const { usd, nano } = splitAmount(cap)
  return { budgetMaxUsd: Number(usd), budgetMaxNano: Number(nano) }
}
