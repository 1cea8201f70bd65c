import { readTier } from '../../core/billing.ts'
import type { ReportedUsage } from '../../core/usage.ts'
import type { JsonObject } from '../../wire/json/parse.ts'
import { reportTier } from './usage.ts'

/** The last tier that a stream names: a later event may be without one, or have a value that names none. */
export class ServedTier {
  #tier: unknown

  /** Returns what an event without usage says of the bill; undefined when it is not new. */
  report({ service_tier: given }: JsonObject): ReportedUsage | undefined {
    const before = this.#tier
    this.#read(given)
    return this.#tier === before ? undefined : reportTier(this.#tier)
  }

  /** Returns an event with the tier that served. */
  addTo(event: JsonObject): JsonObject {
    this.#read(event['service_tier'])
    const tier = this.#tier
    return tier === undefined || tier === event['service_tier']
      ? event
      : { ...event, service_tier: tier }
  }

  #read(tier: unknown): void {
    if (tier !== this.#tier && readTier(tier) !== undefined) this.#tier = tier
  }
}
