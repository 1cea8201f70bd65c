import type { ModelList, ModelListReport } from '../core/model-list.ts'
import type { Provider } from '../core/provider.ts'
import { VendorList, type VendorListPorts } from './vendor-list.ts'

/** The vendor that a list is from. */
export interface ListQuery {
  /** The name of the provider. */
  readonly provider: string
  readonly kind: string
  readonly baseUrl: string
}

/** Owns the lists of models: those of the current snapshot are kept up to date, all others are not. */
export class ModelDiscovery {
  readonly #ports: VendorListPorts
  readonly #lists = new Map<string, VendorList>()

  constructor(ports: VendorListPorts) {
    this.#ports = ports
  }

  /** Returns the list of a provider, which a reload keeps while its vendor is the same. Reads nothing yet. */
  readonly open = (query: ListQuery): ModelList => {
    const { provider, kind, baseUrl } = query
    return (
      this.#lists.get(JSON.stringify([provider, kind, baseUrl])) ??
      new VendorList(query, this.#ports)
    )
  }

  /** Stops all other lists, and reads those of these providers now: a reload asks the vendors again. */
  follow(providers: Iterable<Provider>): void {
    const former = new Set(this.#lists.values())
    this.#lists.clear()
    for (const provider of providers) {
      const { list } = provider
      if (!(list instanceof VendorList)) continue
      this.#lists.set(list.key, list)
      former.delete(list)
      list.start(provider)
    }
    for (const list of former) list.stop()
  }

  report(): readonly ModelListReport[] {
    return Array.from(this.#lists.values(), (list) => list.report())
  }

  /** Stops all lists. */
  close(): void {
    this.follow([])
  }
}
