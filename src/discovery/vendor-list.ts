import { toFailure } from '../core/failure.ts'
import { describeFailure } from '../core/failure-reason.ts'
import type { GatewayEvents } from '../core/gateway-events.ts'
import type { Millis, UnixSeconds } from '../core/ids.ts'
import type {
  ListedFacts,
  ListedModels,
  ModelList,
  ModelListReport,
  NamedFacts,
} from '../core/model-list.ts'
import type { Clock, Environment, Log, Timer } from '../core/ports.ts'
import type { Provider } from '../core/provider.ts'
import { unixSeconds } from '../core/unix-seconds.ts'
import { CancelScope } from '../wire/cancel-scope.ts'
import { readList } from './read-list.ts'

export interface VendorListPorts {
  readonly clock: Clock
  readonly log: Log
  readonly env: Environment
  readonly events: Pick<GatewayEvents, 'modelsListed'>
}

interface VendorListQuery {
  readonly provider: string
  readonly kind: string
  readonly baseUrl: string
}

/** The limit of one reading, over all pages. */
const maxReadTime: Millis = 30_000
/** The wait after the first failure in a row. It doubles up to the interval. */
const firstRetryWait: Millis = 60_000

/**
 * The list of models of one vendor. Between `start` and `stop` it is read at the interval of the provider. No
 * request waits for it. While it cannot be read, the last list stays.
 */
export class VendorList implements ModelList {
  readonly key: string
  readonly #provider: string
  readonly #ports: VendorListPorts
  #current: ListedModels | undefined
  #listedAt: UnixSeconds | undefined
  #reading: CancelScope | undefined
  #next: Timer | undefined
  /** How many readings have failed in a row, and why the last one has. */
  #failures = 0
  #failure: string | undefined

  constructor({ provider, kind, baseUrl }: VendorListQuery, ports: VendorListPorts) {
    this.key = JSON.stringify([provider, kind, baseUrl])
    this.#provider = provider
    this.#ports = ports
  }

  get current(): ListedModels | undefined {
    return this.#current
  }

  /** Reads the list now, and then at the interval of the provider. May be called again. */
  start(provider: Provider): void {
    this.stop()
    void this.#read(provider)
  }

  /** Ends the timer and the reading. The last list stays. */
  stop(): void {
    this.#next?.cancel()
    this.#next = undefined
    this.#reading?.end({ kind: 'abandoned' })
    this.#reading = undefined
  }

  report(): ModelListReport {
    return {
      provider: this.#provider,
      models: this.#current?.models.size,
      listedAt: this.#listedAt,
      failure: this.#failure,
    }
  }

  async #read(provider: Provider): Promise<void> {
    const { clock, env } = this.#ports
    const began = clock.elapsed()
    const scope = new CancelScope(clock)
    this.#reading = scope
    scope.endAfter(maxReadTime, { kind: 'timeout', limit: 'total' })
    try {
      const models = await readList(provider, { scope, env })
      // A later reading, or the end, has taken its place.
      if (this.#reading !== scope) return
      this.#accept(models)
    } catch (error) {
      if (this.#reading !== scope) return
      this.#fail(describeFailure(scope.ended ?? toFailure(error)))
    } finally {
      scope.close()
    }
    const interval = provider.listInterval ?? 0
    const retryWait = firstRetryWait * 2 ** Math.min(this.#failures - 1, 20)
    const wait = this.#failures === 0 ? interval : Math.min(retryWait, interval)
    const left = Math.max(1, wait - (clock.elapsed() - began))
    this.#reading = undefined
    this.#next = clock.schedule(left, () => void this.#read(provider))
  }

  #accept(models: readonly NamedFacts[]): void {
    const { clock, log, events } = this.#ports
    const now = unixSeconds(clock)
    const before = this.#current?.models
    const known = new Map<string, ListedFacts>(
      models.map(({ name, capabilities }) => [
        name,
        { since: before?.get(name)?.since ?? now, capabilities },
      ]),
    )
    events.modelsListed(this.#provider, 'success')
    this.#failures = 0
    this.#failure = undefined
    this.#listedAt = now
    const added = [...known.keys()].filter((name) => !before?.has(name)).length
    const removed = [...(before?.keys() ?? [])].filter((name) => !known.has(name)).length
    if (before && added === 0 && removed === 0 && hasSameFacts(before, known)) return
    const others = new Map(
      models.flatMap(({ name, aliases = [] }) => aliases.map((alias) => [alias, name] as const)),
    )
    this.#current = {
      models: known,
      find: (name) => known.get(name) ?? known.get(others.get(name) ?? ''),
    }
    log.write('info', 'models listed', {
      provider: this.#provider,
      models: known.size,
      added,
      removed,
    })
  }

  /** Logs the first failure in a row. */
  #fail(reason: string): void {
    const { log, events } = this.#ports
    events.modelsListed(this.#provider, 'failure')
    const isFirst = this.#failures === 0
    this.#failures++
    this.#failure = reason
    log.write(isFirst ? 'warn' : 'debug', 'the list of models cannot be read', {
      provider: this.#provider,
      reason,
      models: this.#current?.models.size,
    })
  }
}

type Facts = ReadonlyMap<string, ListedFacts>

function hasSameFacts(before: Facts, now: Facts): boolean {
  return [...now].every(
    ([name, { capabilities }]) =>
      JSON.stringify(before.get(name)?.capabilities) === JSON.stringify(capabilities),
  )
}
