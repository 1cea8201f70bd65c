import type { Authenticator } from '../core/admission.ts'
import type { Capability } from '../core/capability.ts'
import type { Metadata } from '../core/metadata.ts'
import type { RequestOrigin } from '../core/origin.ts'
import type { CancelSignal, Clock, ImageFetchPort, Log, Tokenizer } from '../core/ports.ts'
import type { Model } from '../core/provider.ts'
import type { Reply } from '../core/reply.ts'
import type { RecordSink } from '../core/request-record.ts'
import type { StreamClasses } from '../core/streams.ts'
import { asGatewayError } from '../core/unexpected.ts'
import type { Breakers } from '../resilience/index.ts'
import type { Snapshot } from '../snapshot/index.ts'
import { CancelScope } from '../wire/cancel-scope.ts'
import { InFlightSet } from '../wire/in-flight-set.ts'
import type { Intake } from '../wire/intake.ts'
import { ExactCounts } from './exact-counts.ts'
import { type AttemptOutcome, Exchange } from './exchange.ts'
import { readMetadata } from './metadata.ts'

export interface DataPlaneOptions {
  readonly gatekeeper: Authenticator
  readonly snapshot: () => Snapshot
  readonly clock: Clock
  readonly log: Log
  readonly streams: StreamClasses
  readonly imageFetch: ImageFetchPort | undefined
  /** Absent where the host cannot count exactly. */
  readonly tokenizer: Tokenizer | undefined
  readonly breakers: Breakers
  readonly intake: Intake
  /** From 0 up to 1. */
  readonly random: () => number
  readonly record: RecordSink
  readonly attempted: (link: Model, outcome: AttemptOutcome) => void
  /** Called for a stream that was complete although none of its choices gave a finish reason. */
  readonly unfinished: (link: Model) => void
  readonly metadataRejected: () => void
}

/** What the host knows of a request beyond the request itself. */
export interface Arrival extends RequestOrigin {
  /** Aborts when the client has left. */
  readonly signal: CancelSignal
}

type Serve = (request: Request, exchange: Exchange) => Promise<Reply>

/** Runs the requests of the data plane: opens an exchange for each and sees to it that it ends. */
export class DataPlane {
  readonly #options: DataPlaneOptions
  readonly #running = new InFlightSet<CancelScope>()
  readonly #recounts: ExactCounts | undefined

  constructor(options: DataPlaneOptions) {
    this.#options = options
    const { tokenizer, clock, record } = options
    if (tokenizer) this.#recounts = new ExactCounts({ tokenizer, clock, record })
  }

  /** Requests that have not ended, streams included. */
  get inFlight(): number {
    return this.#running.size
  }

  /** Ends everything that is still running. */
  drain(): void {
    for (const scope of this.#running.all()) scope.end({ kind: 'shutdown' })
  }

  /** Waits a moment for the records of what has ended. */
  async close(): Promise<void> {
    await this.#recounts?.close()
  }

  /** Serves one request of a capability; rejects with the error that the client is to get. */
  async serve(
    capability: Capability,
    serve: Serve,
    request: Request,
    arrival: Arrival,
  ): Promise<Reply> {
    const exchange = this.#open(capability, request, arrival)
    try {
      exchange.identified(this.#options.gatekeeper.authenticate(request, arrival))
      return await serve(request, exchange)
    } catch (error) {
      const known = asGatewayError(error, this.#options.log, arrival.id)
      exchange.settle({ status: known.status, errorCode: known.code })
      // All answers without a valid key are one and the same, on every route.
      throw known.code === 'LM-4004' ? known : known.with({ headers: exchange.errorHeaders })
    }
  }

  #open(capability: Capability, request: Request, arrival: Arrival): Exchange {
    const { id, signal } = arrival
    const { snapshot, clock, log, streams, imageFetch, breakers, intake } = this.#options
    const { random, record, attempted } = this.#options
    const view = snapshot()
    const scope = new CancelScope(clock)
    const gone = () => scope.end({ kind: 'client-cancelled' })
    const leave = this.#running.add(scope)
    if (signal.aborted) gone()
    else signal.addEventListener('abort', gone)
    return new Exchange({
      id,
      capability,
      snapshot: view,
      scope,
      clock,
      log,
      streams,
      imageFetch,
      resilience: { retry: view.retry, breaker: view.breaker, breakers, random },
      metadata: this.#metadata(request, arrival),
      attempted,
      unfinished: this.#options.unfinished,
      intake,
      canCount: this.#recounts !== undefined,
      record: (settlement, recount) => {
        signal.removeEventListener('abort', gone)
        leave()
        if (recount) void this.#recounts?.record(settlement, recount)
        else record(settlement)
      },
    })
  }

  #metadata({ headers }: Request, { id }: Arrival): Metadata {
    const reading = readMetadata(headers)
    if (reading.state === 'accepted') return reading.metadata
    if (reading.state === 'rejected') {
      const { reason } = reading
      this.#options.metadataRejected()
      this.#options.log.write('debug', 'metadata rejected', { request_id: id, reason })
    }
    return {}
  }
}
