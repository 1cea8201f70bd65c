import type { NanoUsd } from '../core/ids.ts'

/** An amount as its two columns hold it: whole dollars, rounded down, and billionths from 0 on. */
export interface Amount {
  readonly usd: bigint
  readonly nano: bigint
}

export function splitAmount(money: NanoUsd): Amount {
  const nano = money % nanosPerUsd
  const usd = money / nanosPerUsd
  // Division of bigints rounds toward zero.
  return nano < 0n ? { usd: usd - 1n, nano: nano + nanosPerUsd } : { usd, nano }
}

export function joinAmount(usd: number, nano: number): NanoUsd {
  // Columns of an amount, put together again.
  return (BigInt(usd) * nanosPerUsd + BigInt(nano)) as NanoUsd
}

export function joinCap(usd: number | null, nano: number | null): NanoUsd | null {
  return usd === null || nano === null ? null : joinAmount(usd, nano)
}

/** The columns of a cap that is set; null in both is no cap. */
export function capColumns(cap: NanoUsd | null) {
  if (cap === null) return { budgetMaxUsd: null, budgetMaxNano: null }
  const { usd, nano } = splitAmount(cap)
  return { budgetMaxUsd: Number(usd), budgetMaxNano: Number(nano) }
}

const nanosPerUsd = 1_000_000_000n
