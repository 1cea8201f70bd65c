import type { IdentifiedPrices } from '../core/bill.ts'
import { type BilledTool, vendorTools } from '../core/billing.ts'
import type { NanoUsd } from '../core/ids.ts'
import type { Prices } from '../core/prices.ts'
import { blake3Hex } from '../wire/digest.ts'

const known = new WeakMap<Prices, IdentifiedPrices>()

/** Returns the id of prices, which is the same for equal ones, and their text. */
export function identifyPrices(prices: Prices): IdentifiedPrices {
  const found = known.get(prices)
  if (found) return found
  const text = writePrices(prices)
  const identified = Object.freeze({ id: blake3Hex(text).slice(0, 16), text })
  known.set(prices, identified)
  return identified
}

const names = [
  'input',
  'output',
  'reasoning',
  'cachedInput',
  'cacheWrite',
  'cacheWrite1h',
  'cacheWrite12h',
  'audioInput',
  'imageInput',
  'videoInput',
  'cachedAudioInput',
  'audioOutput',
  'imageOutput',
  'searches',
  'requests',
] as const

/** Writes prices as JSON, always in the same order. Tools without a price are left out. */
function writePrices({ tools = {}, ...prices }: Prices): string {
  const written = names.flatMap((name) => {
    const price = prices[name]
    return price === undefined ? [] : [[name, String(price)] as const]
  })
  const fees = vendorTools.flatMap((tool) => {
    const fee = tools[tool] ?? 0n
    return fee === 0n ? [] : [[tool, String(fee)] as const]
  })
  return JSON.stringify({
    ...Object.fromEntries(written),
    ...(fees.length > 0 && { tools: Object.fromEntries(fees) }),
  })
}

/** Reads prices that `identifyPrices` has written. */
export function parsePrices(text: string): Prices {
  const { tools, ...amounts } = JSON.parse(text) as Record<string, string> & {
    readonly tools?: Partial<Record<BilledTool, string>>
  }
  const read = (entries: object) =>
    Object.fromEntries(
      Object.entries(entries).map(([name, amount]) => [name, BigInt(amount) as NanoUsd]),
    )
  // Written from prices, whose members are all there.
  return { ...read(amounts), ...(tools && { tools: read(tools) }) } as unknown as Prices
}
