import { type Authenticator, noAuth } from '../core/admission.ts'
import type { Api } from '../core/capability.ts'
import { noRequestEvents } from '../core/gateway-events.ts'
import type { Metadata } from '../core/metadata.ts'
import type { RequestOrigin } from '../core/origin.ts'
import { asHeaderList, type CancelSignal, type Tokenizer } from '../core/ports.ts'
import type { Reply } from '../core/reply.ts'
import type { RecordSink, RequestRecord } from '../core/request-record.ts'
import { asGatewayError } from '../core/unexpected.ts'
import { Breakers, Credentials, ParkedInProcess } from '../resilience/index.ts'
import { RoomsInProcess } from '../rooms/index.ts'
import { Draws, TrafficInProcess } from '../routing/index.ts'
import type { Snapshot } from '../snapshot/index.ts'
import { noTrace, type RequestTrace, type StartTrace } from '../traces/index.ts'
import type { BodyLimiter } from '../wire/body-limiter.ts'
import { CancelScope } from '../wire/cancel-scope.ts'
import type { InFlightSet } from '../wire/in-flight-set.ts'
import { explainRequest } from './explain/explain.ts'
import type { Explanation } from './explain/explanation.ts'
import { attemptsHeader, queuedHeader } from './request/admitted.ts'
import { RequestContext } from './request/context.ts'
import { ExactCounts } from './request/exact-counts.ts'
import { readMetadata } from './request/metadata.ts'
import type { RequestPorts } from './request/options.ts'
import { type PendingCount, RecordBuilder } from './request/record-builder.ts'
import { describeRefusal } from './request/refusal.ts'
import type { ServeRequest, Service } from './serve/service.ts'

export interface DataPlaneOptions extends RequestPorts {
  readonly snapshot: () => Snapshot
  /** Absent where the host cannot count exactly. */
  readonly tokenizer: Tokenizer | undefined
  readonly breakers: Breakers
  readonly credentials: Credentials
  readonly bodyLimiter: BodyLimiter
  /** Returns a number from 0 up to 1, for the jitter of retries. */
  readonly random: () => number
  readonly record: RecordSink
  /** Keeps a record whose counts are still to come, and returns the sink of the final one. */
  readonly hold: (record: RequestRecord) => RecordSink
  /** Resolves when the ends of all requests are where other processes need them; undefined when they are. */
  readonly reported: () => Promise<void> | undefined
  /** Undefined while traces are off. */
  readonly startTrace: StartTrace | undefined
  /** The scopes of the requests that have not ended, streams included. */
  readonly inFlight: InFlightSet<CancelScope>
}

/** What requests of their own are served by, and who gets their records. */
export type IsolatedOptions = Pick<DataPlaneOptions, 'record'> & { readonly snapshot: Snapshot }

/** What the host knows of a request beyond the request itself. */
export interface Arrival extends RequestOrigin {
  /** Aborts when the client has left. */
  readonly signal: CancelSignal
}

interface Matched {
  readonly request: Request
  readonly context: Arrival
  /** The parameters of the path; `model` counts instead of the body's. */
  readonly params: Readonly<Record<string, string>>
  /** The path as in the documentation. */
  readonly route: string
}

/** The host's knowledge of a request that is explained, and who its sender is. */
export interface ExplainedArrival extends Arrival {
  readonly authenticator: Authenticator
}

interface MatchedExplained extends Matched {
  readonly context: ExplainedArrival
}

/** The requests of the data plane: each is in flight until it has been recorded, which happens once. */
export class DataPlane {
  readonly #options: DataPlaneOptions
  readonly #exactCounts: ExactCounts | undefined
  readonly #draws: Draws

  constructor(options: DataPlaneOptions) {
    this.#options = options
    this.#draws = new Draws(options.random)
    const { tokenizer, clock, hold } = options
    if (tokenizer) this.#exactCounts = new ExactCounts({ tokenizer, clock, hold })
  }

  /** The number of requests that have not ended, streams included. */
  get inFlight(): number {
    return this.#options.inFlight.size
  }

  /** Ends every request that is in flight. */
  drain(): void {
    for (const scope of this.#options.inFlight.all()) scope.end({ kind: 'shutdown' })
  }

  /** Waits up to two seconds for the exact counts of requests that have ended. */
  async close(): Promise<void> {
    await this.#exactCounts?.close()
  }

  /**
   * Makes a route of a service: each request gets a context, a place among those in flight and, however it
   * ends, one record.
   */
  recorded(service: Service): (matched: Matched) => Promise<Reply> {
    return async (matched) => {
      const { request, context: arrival } = matched
      const { record, context } = this.#open(service.api, matched, {
        trace: this.#startTrace(service.api, matched),
        emit: this.#emit,
        ports: this.#options,
      })
      try {
        return await service.serve(request, context)
      } catch (error) {
        const known = asGatewayError(error, this.#options.log, arrival.id)
        const { status, code: errorCode } = known
        record.finish({ status, errorCode, refusal: describeRefusal(known, record) })
        // All answers to requests without a valid key are the same, on every route.
        if (known.code === 'LM-4004') throw known
        const { attempts, places } = record
        const headers = asHeaderList([
          attemptsHeader,
          String(attempts),
          ...queuedHeader(places.queued),
        ])
        throw known.with({ headers })
      } finally {
        // The client must not see the end of a request that a killed process would forget, or that still
        // holds something when the next one comes to another process.
        const reported = record.isFinished ? this.#options.reported() : undefined
        if (reported) await reported
      }
    }
  }

  /**
   * Makes a route that explains the requests of a service, whose sender is known by other means. They are
   * in flight, but nothing is recorded.
   */
  explained(service: Service): (matched: MatchedExplained) => Promise<Explanation> {
    return async (matched) => {
      const { authenticator } = matched.context
      const opening = { ...unobserved, ports: { ...this.#options, authenticator } }
      const { record, context } = this.#open(service.api, matched, opening)
      try {
        return await explainRequest(service, matched.request, context)
      } finally {
        record.finish({ status: 200 })
      }
    }
  }

  /** Makes a route of a handler whose requests are in flight, but not recorded: they cost nothing. */
  unrecorded(api: Api, handler: ServeRequest): (matched: Matched) => Promise<Reply> {
    return async (matched) => {
      const opening = { ...unobserved, ports: this.#options }
      const { record, context } = this.#open(api, matched, opening)
      try {
        return await handler(matched.request, context)
      } finally {
        record.finish({ status: 200 })
      }
    }
  }

  /**
   * Creates a plane whose requests are in flight like all others, and change nothing for them: no circuit, no parked
   * credential, no load, no limit and no metric.
   */
  isolate({ snapshot, record }: IsolatedOptions): DataPlane {
    const { clock } = this.#options
    return new DataPlane({
      ...this.#options,
      snapshot: () => snapshot,
      authenticator: noAuth,
      tokenizer: undefined,
      breakers: new Breakers(clock),
      credentials: new Credentials(clock, new ParkedInProcess()),
      traffic: new TrafficInProcess(clock),
      rooms: new RoomsInProcess({ clock }),
      events: noRequestEvents,
      record,
      reported: () => undefined,
      startTrace: undefined,
    })
  }

  #open(
    api: Api,
    { request, context: arrival, params }: Matched,
    { trace, emit, ports }: Opening,
  ): OpenedRequest {
    const { clock, log, breakers, credentials, bodyLimiter, random, traffic, events, inFlight } =
      this.#options
    const { id, signal } = arrival
    const scope = new CancelScope(clock)
    const cancel = () => {
      const slot = record.cache?.slot
      if (slot) slot.leave(scope)
      else scope.end({ kind: 'client-cancelled' })
    }
    const leave = inFlight.add(scope)
    const bufferAccount = bodyLimiter.buffers.openAccount(() => scope.end({ kind: 'slow-client' }))
    const slot = bodyLimiter.openSlot(bufferAccount)
    const record = new RecordBuilder({
      id,
      api,
      metadata: this.#metadata(request.headers, arrival),
      clock,
      log,
      events,
      traffic,
      trace,
      release() {
        scope.close()
        slot.release()
        bufferAccount.close()
        signal.removeEventListener('abort', cancel)
        leave()
      },
      emit,
    })
    if (signal.aborted) cancel()
    else signal.addEventListener('abort', cancel)
    const snapshot = this.#options.snapshot()
    const context = new RequestContext({
      ports,
      origin: arrival,
      modelInPath: params['model'],
      api,
      snapshot,
      scope,
      resilience: {
        retry: snapshot.retry,
        breaker: snapshot.breaker,
        breakers,
        credentials,
        random,
      },
      draws: this.#draws,
      buffers: bodyLimiter.buffers,
      bufferAccount,
      slot,
      record,
      trace,
      canCount: this.#exactCounts !== undefined,
    })
    return { record, context }
  }

  #startTrace(api: Api, { request, context: { id }, route }: Matched): RequestTrace {
    return this.#options.startTrace?.({ request, id, api, route }) ?? noTrace
  }

  readonly #emit: Emit = (record, pending) => {
    if (pending) void this.#exactCounts?.record(record, pending)
    else this.#options.record(record)
  }

  #metadata(headers: Headers, { id }: Arrival): Metadata {
    const result = readMetadata(headers)
    if (result.state === 'accepted') return result.metadata
    if (result.state === 'rejected') {
      const { reason } = result
      this.#options.events.metadataRejected()
      this.#options.log.write('debug', 'metadata rejected', { request_id: id, reason })
    }
    return {}
  }
}

/** What differs between requests that are served, counted and explained. */
interface Opening {
  readonly trace: RequestTrace
  readonly emit: Emit
  readonly ports: RequestPorts
}

const unobserved = Object.freeze({ trace: noTrace, emit() {} })

type Emit = (record: RequestRecord, pending: PendingCount | undefined) => void

interface OpenedRequest {
  readonly record: RecordBuilder
  readonly context: RequestContext
}
