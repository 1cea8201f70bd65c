import type { Bytes } from '../core/ids.ts'
import type { Meters, Sample } from '../core/metrics.ts'

/** The values that gauges read at each scrape. */
export interface GaugeSources {
  /** The circuits in use. */
  readonly circuits: () => Iterable<{ provider: string; model: string; state: CircuitState }>
  readonly inFlight: () => number
  readonly bufferedBytes: () => Bytes
  readonly cache: { readonly bytes: Bytes; readonly entries: number }
  /** The providers with several credentials, and those that are parked: for one model, or for all. */
  readonly pools: () => Iterable<CredentialPool>
  /** The last result for each provider; undefined when it is not probed. */
  readonly health: () => Iterable<
    readonly [provider: string, result: { status: 'up' | 'down' } | undefined]
  >
}

interface CredentialPool {
  readonly provider: string
  readonly parked: readonly { readonly model: string | undefined }[]
}

type CircuitState = 'closed' | 'open' | 'half-open'

const circuitValues = { closed: 0, open: 1, 'half-open': 2 } as const

/** Adds the series whose values the gateway already has. */
export function addGauges(
  meters: Meters,
  { circuits, inFlight, bufferedBytes, cache, pools, health }: GaugeSources,
): void {
  meters.read({
    name: 'gateway_requests_in_flight',
    help: 'Data-plane requests that have not ended, streams included.',
    type: 'gauge',
    samples: () => [{ labels: {}, value: inFlight() }],
  })
  meters.read({
    name: 'gateway_buffered_bytes',
    help: 'Bytes held in memory for clients and upstreams: request bodies and unread responses.',
    type: 'gauge',
    samples: () => [{ labels: {}, value: bufferedBytes() }],
  })
  meters.read({
    name: 'gateway_cache_bytes',
    help: 'Memory that the cached answers take.',
    type: 'gauge',
    samples: () => [{ labels: {}, value: cache.bytes }],
  })
  meters.read({
    name: 'gateway_cache_entries',
    help: 'Answers in the cache.',
    type: 'gauge',
    samples: () => [{ labels: {}, value: cache.entries }],
  })
  meters.read({
    name: 'gateway_circuit_state',
    help: 'State of the circuit of a provider and model: 0 closed, 1 open, 2 half-open.',
    type: 'gauge',
    samples: () =>
      Array.from(circuits(), ({ provider, model, state }) => ({
        labels: { provider, model },
        value: circuitValues[state],
      })),
  })
  meters.read({
    name: 'gateway_credentials_parked',
    help: 'Parked credentials of a provider that has several: for one model, or for all where it is empty.',
    type: 'gauge',
    samples: () => Array.from(pools()).flatMap(countParked),
  })
  meters.read({
    name: 'gateway_provider_up',
    help: 'Last health check of a provider: 1 up, 0 down; providers that are not probed are absent.',
    type: 'gauge',
    samples: () =>
      Array.from(health()).flatMap(([provider, result]): Sample[] =>
        result ? [{ labels: { provider }, value: result.status === 'up' ? 1 : 0 }] : [],
      ),
  })
}

function countParked({ provider, parked }: CredentialPool): Sample[] {
  const counts = new Map([['', 0]])
  for (const { model = '' } of parked) counts.set(model, (counts.get(model) ?? 0) + 1)
  return Array.from(counts, ([model, value]) => ({ labels: { provider, model }, value }))
}
