import type { Bytes } from '../core/ids.ts'
import type { Meters, RuntimeReadings, Sample } from '../core/metrics.ts'
import { version } from '../core/version.ts'
import { seriesTable } from './table.ts'

/** The values that gauges read at each scrape. */
export interface GaugeSources {
  /** Undefined on a host that cannot tell. */
  readonly runtime: RuntimeReadings | undefined
  readonly isReady: () => boolean
  /** Undefined where nothing is shared. */
  readonly isSharedStateUp: () => boolean | undefined
  /** The circuits in use. */
  readonly circuits: () => Iterable<{ provider: string; model: string; state: CircuitState }>
  /** The name of a model for these series: that of its pattern, where clients may have invented its id. */
  readonly nameModel: (provider: string, id: string) => string
  readonly inFlight: () => number
  /** The running requests of each link that has been used. */
  readonly loads: () => Iterable<LinkLoad>
  /** The links with a queue, and how many requests of this process wait in it. */
  readonly queues: () => Iterable<{ provider: string; model: string; waiting: number }>
  readonly bufferedBytes: () => Bytes
  /** The number of sessions that are remembered. */
  readonly pins: () => number
  readonly cache: { readonly bytes: Bytes; readonly entries: number }
  /** The providers with several credentials, and those that are parked: for one model, or for all. */
  readonly pools: () => Iterable<CredentialPool>
  /** The lists of models of providers. */
  readonly modelLists: () => Iterable<{ provider: string; models: number | undefined }>
  /** The last result for each provider; undefined when it is not probed. */
  readonly health: () => Iterable<
    readonly [provider: string, result: { status: 'up' | 'down' } | undefined]
  >
}

interface LinkLoad {
  readonly provider: string
  readonly model: string
  readonly isStream: boolean
  readonly inFlight: number
}

interface CredentialPool {
  readonly provider: string
  readonly parked: readonly { readonly model: string | undefined }[]
}

type CircuitState = 'closed' | 'open' | 'half-open'

const circuitValues = { closed: 0, open: 1, 'half-open': 2 } as const

/** Adds the series whose values the gateway already has. */
export function addGauges(meters: Meters, sources: GaugeSources): void {
  const { runtime, isReady, isSharedStateUp, circuits, inFlight, loads, bufferedBytes } = sources
  const { cache, pins, pools, queues, health, modelLists, nameModel } = sources
  meters.read({
    ...seriesTable.build,
    samples: () => [{ labels: { version, node: runtime?.node ?? '' }, value: 1 }],
  })
  meters.read({ ...seriesTable.ready, samples: () => one(isReady() ? 1 : 0) })
  meters.read({ ...seriesTable.inFlight, samples: () => one(inFlight()) })
  meters.read({ ...seriesTable.eventLoopLag, samples: () => readLag(runtime) })
  meters.read({ ...seriesTable.bufferedBytes, samples: () => one(bufferedBytes()) })
  meters.read({ ...seriesTable.affinityPins, samples: () => one(pins()) })
  meters.read({ ...seriesTable.cacheBytes, samples: () => one(cache.bytes) })
  meters.read({ ...seriesTable.cacheEntries, samples: () => one(cache.entries) })
  meters.read({
    ...seriesTable.upstreamInFlight,
    samples: () =>
      joinSamples(
        Array.from(loads(), ({ provider, model, isStream, inFlight: value }) => ({
          labels: { provider, model: nameModel(provider, model), stream: String(isStream) },
          value,
        })),
        (a, b) => a + b,
      ),
  })
  meters.read({
    ...seriesTable.upstreamQueue,
    samples: () =>
      joinSamples(
        Array.from(queues(), ({ provider, model, waiting: value }) => ({
          labels: { provider, model: nameModel(provider, model) },
          value,
        })),
        (a, b) => a + b,
      ),
  })
  meters.read({ ...seriesTable.sharedStateUp, samples: () => readUp(isSharedStateUp()) })
  meters.read({
    ...seriesTable.circuits,
    samples: () =>
      joinSamples(
        Array.from(circuits(), ({ provider, model, state }) => ({
          labels: { provider, model: nameModel(provider, model) },
          value: circuitValues[state],
        })),
        findWorseCircuit,
      ),
  })
  meters.read({
    ...seriesTable.parkedCredentials,
    samples: () => Array.from(pools()).flatMap((pool) => countParked(pool, nameModel)),
  })
  meters.read({
    ...seriesTable.listedModels,
    samples: () =>
      Array.from(modelLists()).flatMap(({ provider, models }): Sample[] =>
        models === undefined ? [] : [{ labels: { provider }, value: models }],
      ),
  })
  meters.read({
    ...seriesTable.providerUp,
    samples: () =>
      Array.from(health()).flatMap(([provider, result]): Sample[] =>
        result ? [{ labels: { provider }, value: result.status === 'up' ? 1 : 0 }] : [],
      ),
  })
}

function one(value: number): Sample[] {
  return [{ labels: {}, value }]
}

function readUp(isUp: boolean | undefined): Sample[] {
  return isUp === undefined ? [] : one(isUp ? 1 : 0)
}

function readLag(runtime: RuntimeReadings | undefined): Sample[] {
  const lag = runtime?.readEventLoopLag()
  return lag === undefined ? [] : one(lag / 1000)
}

/** Joins the samples with the same labels: models of one pattern. */
function joinSamples(samples: readonly Sample[], join: (a: number, b: number) => number): Sample[] {
  const joined = new Map<string, Sample>()
  for (const sample of samples) {
    const key = JSON.stringify(sample.labels)
    const known = joined.get(key)
    joined.set(key, known ? { ...known, value: join(known.value, sample.value) } : sample)
  }
  return [...joined.values()]
}

/** Of a pattern, an open circuit counts before a half-open one, and a closed one last. */
function findWorseCircuit(a: number, b: number): number {
  const { open } = circuitValues
  return a === open || b === open ? open : Math.max(a, b)
}

function countParked(
  { provider, parked }: CredentialPool,
  nameModel: GaugeSources['nameModel'],
): Sample[] {
  const counts = new Map([['', 0]])
  for (const { model } of parked) {
    const name = model === undefined ? '' : nameModel(provider, model)
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return Array.from(counts, ([model, value]) => ({ labels: { provider, model }, value }))
}
