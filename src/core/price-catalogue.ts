import type { Capability } from './capability.ts'

/** A model whose prices are looked up. */
export interface CatalogueQuery {
  /** The kind of its provider. */
  readonly kind: string
  /** The configured address of the provider; undefined for the vendor's own. */
  readonly baseUrl: string | undefined
  /** The names of the profiles that the configuration gives it, which may be those of kinds; the first one first. */
  readonly profiles: readonly string[]
  readonly upstreamId: string
  readonly capabilities: readonly Capability[]
  /** The provider has a factor of its own for its prices. */
  readonly hasFactor: boolean
}

/** Prices by the names of their settings, and the entries of prices under conditions. */
export type CataloguePrices = Readonly<Record<string, unknown>>

/** A table of prices. */
export interface PriceCatalogue {
  /** Finds the prices of a model; undefined for one that the table does not have. */
  find(query: CatalogueQuery): CataloguePrices | undefined
}

/** Opens the table of prices of the host. Called only when the configuration needs it. */
export type OpenPrices = () => Promise<PriceCatalogue>
