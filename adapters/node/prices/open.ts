import type { PriceCatalogue } from '../../../src/core/price-catalogue.ts'
import { kinds } from '../../../src/providers/index.ts'
import { selectSettings } from './compare.ts'
import { openShippedTable } from './table.ts'
import { findVendor, placePrices, type Vendor } from './vendor.ts'

/**
 * Opens the table of prices that comes with the gateway, for `prices = "table"`. A model is looked up under its
 * profiles, then under the vendor of the address, then under the kind, whatever the address.
 */
export async function openPrices(): Promise<PriceCatalogue> {
  const table = await openShippedTable()
  return {
    find({ kind, baseUrl, profiles, upstreamId, capabilities, hasFactor }) {
      const vendor = findVendor({ kind, base_url: baseUrl }, kinds)
      const vendors: readonly Vendor[] = [
        ...profiles.map((name) => ({ kind: name, place: undefined })),
        ...(vendor ? [vendor] : []),
        { kind, place: undefined },
      ]
      for (const one of vendors) {
        const found = table.find(one.kind, upstreamId)
        // A factor of the provider's own is in place of the vendor's.
        const place = hasFactor ? undefined : one.place
        if (found)
          return {
            ...selectSettings(placePrices(found, place), { capabilities: [...capabilities] }),
          }
      }
      return undefined
    },
  }
}
