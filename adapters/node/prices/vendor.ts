import type { ProviderConfig } from '../../../src/config/index.ts'
import type { PricedModel } from './catalogue.ts'
import { type PriceSettings, tokenPrices } from './settings.ts'

/** Whose prices a provider has. */
export interface Vendor {
  /** The kind that is made for the vendor. */
  readonly kind: string
  /** The part of its address by which prices differ, as `Sheet.places` names them. */
  readonly place: string | undefined
}

/** A kind with the vendor's public address. */
export interface VendorKind {
  readonly name: string
  readonly defaultBaseUrl?: string | undefined
}

/** Kinds whose address is the customer's own, at the prices of the vendor. */
const hostedAtCustomer: ReadonlySet<string> = new Set([
  'azure',
  'bedrock',
  'cloudflare',
  'vertex_ai',
])

/**
 * Finds the vendor of a provider. A server of its own address is another vendor, even when it speaks the API of the
 * kind; undefined for one that no kind is made for.
 */
export function findVendor(
  { kind, base_url: address }: Pick<ProviderConfig, 'kind' | 'base_url'>,
  kinds: readonly VendorKind[],
): Vendor | undefined {
  if (kind === 'vertex_ai') return { kind, place: isGlobal(address) ? undefined : 'regional' }
  if (address === undefined || hostedAtCustomer.has(kind)) return { kind, place: undefined }
  const host = readHost(address)
  for (const { name, defaultBaseUrl } of kinds) {
    const own = defaultBaseUrl === undefined ? undefined : readHost(defaultBaseUrl)
    if (own === undefined || host === undefined || own === 'localhost') continue
    if (host === own) return { kind: name, place: undefined }
    if (host.endsWith(`.${own}`)) return { kind: name, place: host.slice(0, -own.length - 1) }
  }
  return undefined
}

/** An address without a location takes it from the environment, which a command cannot know. */
function isGlobal(address: string | undefined): boolean {
  return (
    address === undefined || !/[a-z]+-[a-z]+\d|\/locations\/(?!global)|^(?:us|eu)$/.test(address)
  )
}

function readHost(address: string): string | undefined {
  return URL.canParse(address) ? new URL(address).hostname : undefined
}

/** Applies the factor of a place to all prices of tokens. */
export function placePrices(
  { settings, places }: PricedModel,
  place: string | undefined,
): PriceSettings {
  const factor = place === undefined ? undefined : places[place]
  if (factor === undefined) return settings
  const { prices, ...base } = settings
  return {
    ...base,
    ...multiplyPrices(base, factor),
    ...(prices && {
      prices: prices.map((entry) => ({ ...entry, ...multiplyPrices(entry, factor) })),
    }),
  }
}

function multiplyPrices(cell: PriceSettings, factor: number): PriceSettings {
  const multiplied = tokenPrices.flatMap((name) => {
    const price = cell[name]
    return price === undefined ? [] : [[name, Number((price * factor).toFixed(9))] as const]
  })
  return Object.fromEntries(multiplied)
}
