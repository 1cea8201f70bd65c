import type { NanoUsd } from '../core/ids.ts'
import { factorDecimals } from '../core/price-settings.ts'

/** A product of factors with at most four decimals each. */
export interface Factor {
  readonly numerator: bigint
  readonly denominator: bigint
}

export const one: Factor = Object.freeze({ numerator: 1n, denominator: 1n })

const scale = 10 ** factorDecimals

/** Multiplies a product by a configured factor. */
export function multiplyFactor({ numerator, denominator }: Factor, factor: number): Factor {
  return {
    numerator: numerator * BigInt(Math.round(factor * scale)),
    denominator: denominator * BigInt(scale),
  }
}

/** Multiplies a price, rounded half up to a nano-dollar for a million tokens. */
export function multiplyPrice(price: NanoUsd, { numerator, denominator }: Factor): NanoUsd {
  return ((price * numerator * 2n + denominator) / (denominator * 2n)) as NanoUsd
}
