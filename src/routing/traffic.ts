import type { Millis } from '../core/ids.ts'
import type { Clock } from '../core/ports.ts'
import type { Model } from '../core/provider.ts'
import { RecentMap } from '../wire/recent-map.ts'
import { LinkTraffic, type Pace, type PaceMeter } from './link-traffic.ts'

/** One request on its way through one link. */
export interface LinkRun {
  /** The first content of the stream, or the whole answer, has arrived. */
  markServed(): void
  /** The link has failed. */
  markFailed(): void
  /** The request has left the link. Only the first call counts. */
  end(): void
}

/** The requests of one form on one link. */
export interface LinkLoad {
  readonly provider: string
  readonly model: string
  readonly isStream: boolean
  readonly inFlight: number
}

/** What is known about the requests on each link. */
export interface Traffic {
  /** Starts a request on a link. The caller must end the run. */
  begin(link: Model, isStream: boolean): LinkRun
  /** The requests that are on a link now, streams to their end. */
  countInFlight(link: Model): number
  /** How fast a link has answered requests of this form. `cooldown`: how long a failure counts. */
  getPace(link: Model, form: { readonly isStream: boolean; readonly cooldown: Millis }): Pace
}

/**
 * The traffic of this process, by provider and model. A reload keeps it. Clients may invent ids that patterns serve,
 * so of these the ones that were not used for longest are forgotten.
 */
export class TrafficInProcess implements Traffic {
  readonly #clock: Clock
  readonly #providers = new Map<string, Map<string, LinkTraffic>>()
  /** The traffic of models that patterns serve. */
  readonly #matched = new RecentMap<string, MatchedTraffic>({
    max: maxMatched,
    isIdle: ({ traffic }) => traffic.inFlight === 0,
  })

  constructor(clock: Clock) {
    this.#clock = clock
  }

  begin(link: Model, isStream: boolean): LinkRun {
    const traffic = this.#getOrCreate(link)
    const meter = isStream ? traffic.streams : traffic.answers
    return startRun(meter, this.#clock)
  }

  countInFlight(link: Model): number {
    return this.#find(link)?.inFlight ?? 0
  }

  getPace(link: Model, { isStream, cooldown }: Parameters<Traffic['getPace']>[1]): Pace {
    const now = this.#clock.elapsed()
    const traffic = this.#find(link)
    const meter = isStream ? traffic?.streams : traffic?.answers
    return meter?.read(now, cooldown) ?? { kind: 'new' }
  }

  /** The requests that are now on each link that has been used, streams apart from whole answers. */
  *listInFlight(): Generator<LinkLoad> {
    for (const [provider, models] of this.#providers) {
      for (const [model, { streams, answers }] of models) {
        yield { provider, model, isStream: false, inFlight: answers.inFlight }
        yield { provider, model, isStream: true, inFlight: streams.inFlight }
      }
    }
    for (const [, { provider, model, traffic }] of this.#matched) {
      yield { provider, model, isStream: false, inFlight: traffic.answers.inFlight }
      yield { provider, model, isStream: true, inFlight: traffic.streams.inFlight }
    }
  }

  /**
   * Forgets all other models, and what no pattern serves any longer. Requests that are on them end without a
   * trace.
   */
  retain(
    links: Iterable<Model>,
    findMatch: (provider: string, id: string) => unknown = () => undefined,
  ): void {
    const former = new Map(this.#providers)
    this.#providers.clear()
    for (const { id, provider } of links) {
      const traffic = former.get(provider.name)?.get(id)
      if (traffic) this.#getModels(provider.name).set(id, traffic)
    }
    for (const [key, { provider, model }] of this.#matched) {
      if (!findMatch(provider, model)) this.#matched.delete(key)
    }
  }

  #find(link: Model): LinkTraffic | undefined {
    if (link.match) return this.#matched.get(toKey(link))?.traffic
    return this.#providers.get(link.provider.name)?.get(link.id)
  }

  #getOrCreate(link: Model): LinkTraffic {
    const { id, provider, match } = link
    if (match) {
      const known = this.#matched.get(toKey(link))
      if (known) return known.traffic
      const traffic = new LinkTraffic()
      this.#matched.set(toKey(link), { provider: provider.name, model: id, traffic })
      return traffic
    }
    const models = this.#getModels(provider.name)
    let traffic = models.get(id)
    if (!traffic) models.set(id, (traffic = new LinkTraffic()))
    return traffic
  }

  #getModels(provider: string): Map<string, LinkTraffic> {
    let models = this.#providers.get(provider)
    if (!models) this.#providers.set(provider, (models = new Map()))
    return models
  }
}

interface MatchedTraffic {
  readonly provider: string
  readonly model: string
  readonly traffic: LinkTraffic
}

/** How many models that patterns serve are kept. */
const maxMatched = 1000

function toKey({ id, provider }: Model): string {
  return JSON.stringify([provider.name, id])
}

function startRun(meter: PaceMeter, clock: Clock): LinkRun {
  const began = clock.elapsed()
  let isPending = true
  let isOver = false
  const settle = () => {
    if (isPending) meter.pending--
    isPending = false
  }
  meter.inFlight++
  meter.pending++
  return {
    markServed() {
      settle()
      const now = clock.elapsed()
      meter.addTime(now - began, now)
    },
    markFailed() {
      settle()
      meter.addFailure(clock.elapsed())
    },
    end() {
      settle()
      if (isOver) return
      isOver = true
      meter.inFlight--
    },
  }
}
