import type { Bytes } from '../core/ids.ts'
import type { Meters, RuntimeReadings, Sample } from '../core/metrics.ts'
import { version } from '../core/version.ts'
import { table } from './table.ts'

/** The values that gauges read at each scrape. */
export interface GaugeSources {
  /** Undefined on a host that cannot tell. */
  readonly runtime: RuntimeReadings | undefined
  readonly isReady: () => boolean
  /** Undefined where nothing is shared. */
  readonly isSharedStateUp: () => boolean | undefined
  /** The circuits in use. */
  readonly circuits: () => Iterable<{ provider: string; model: string; state: CircuitState }>
  readonly inFlight: () => number
  /** The running requests of each link that has been used. */
  readonly loads: () => Iterable<LinkLoad>
  readonly bufferedBytes: () => Bytes
  /** The number of sessions that are remembered. */
  readonly pins: () => number
  readonly cache: { readonly bytes: Bytes; readonly entries: number }
  /** The providers with several credentials, and those that are parked: for one model, or for all. */
  readonly pools: () => Iterable<CredentialPool>
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
  const { cache, pins, pools, health } = sources
  meters.read({
    ...table.build,
    samples: () => [{ labels: { version, node: runtime?.node ?? '' }, value: 1 }],
  })
  meters.read({ ...table.ready, samples: () => one(isReady() ? 1 : 0) })
  meters.read({ ...table.inFlight, samples: () => one(inFlight()) })
  meters.read({ ...table.eventLoopLag, samples: () => readLag(runtime) })
  meters.read({ ...table.bufferedBytes, samples: () => one(bufferedBytes()) })
  meters.read({ ...table.affinityPins, samples: () => one(pins()) })
  meters.read({ ...table.cacheBytes, samples: () => one(cache.bytes) })
  meters.read({ ...table.cacheEntries, samples: () => one(cache.entries) })
  meters.read({
    ...table.upstreamInFlight,
    samples: () =>
      Array.from(loads(), ({ provider, model, isStream, inFlight: value }) => ({
        labels: { provider, model, stream: String(isStream) },
        value,
      })),
  })
  meters.read({ ...table.sharedStateUp, samples: () => readUp(isSharedStateUp()) })
  meters.read({
    ...table.circuits,
    samples: () =>
      Array.from(circuits(), ({ provider, model, state }) => ({
        labels: { provider, model },
        value: circuitValues[state],
      })),
  })
  meters.read({
    ...table.parkedCredentials,
    samples: () => Array.from(pools()).flatMap(countParked),
  })
  meters.read({
    ...table.providerUp,
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

function countParked({ provider, parked }: CredentialPool): Sample[] {
  const counts = new Map([['', 0]])
  for (const { model = '' } of parked) counts.set(model, (counts.get(model) ?? 0) + 1)
  return Array.from(counts, ([model, value]) => ({ labels: { provider, model }, value }))
}
