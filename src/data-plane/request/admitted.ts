import type { Admission } from '../../core/admission.ts'
import type { GatewayError } from '../../core/errors.ts'
import type { UpstreamFailure } from '../../core/failure.ts'
import { findCause, goesOnAfter } from '../../core/fallback.ts'
import type { Bytes, Millis, NanoUsd } from '../../core/ids.ts'
import { formatUsd } from '../../core/money.ts'
import { asHeaderList, type Clock, type HeaderList } from '../../core/ports.ts'
import type { Model, UsableCredential } from '../../core/provider.ts'
import type { Media } from '../../core/request-record.ts'
import type { ModelRoute } from '../../core/route.ts'
import type {
  Attempt,
  CallBill,
  CallResult,
  ChainRequest,
  LinkFailure,
  ParkedCredential,
  Resilience,
} from '../../resilience/index.ts'
import type { Place, Rooms } from '../../rooms/index.ts'
import type { Draws, PinnedSession, Traffic } from '../../routing/index.ts'
import { StreamRecorder } from '../../stream/stream-recorder.ts'
import type { BufferAccount } from '../../wire/buffers.ts'
import type { CancelScope } from '../../wire/cancel-scope.ts'
import type { SentAnswer } from '../cache/use.ts'
import { findSmall } from './context-window.ts'
import { formatPaths } from './dropped-header.ts'
import { orderRoute } from './link-order.ts'
import type { RecordBuilder, RequestOutcome } from './record-builder.ts'
import { describeRefusal } from './refusal.ts'
import { waitForRoom } from './wait-for-room.ts'

export interface AdmittedRequestOptions {
  readonly context: RunningRequest
  readonly route: ModelRoute
  readonly admission: Admission
  readonly record: RecordBuilder
  /** By the target; empty unless the route orders its targets by them. */
  readonly costs?: ReadonlyMap<Model, bigint>
  /** The session of the request; absent where it makes no difference. */
  readonly session?: PinnedSession | undefined
  /** What the request takes in a context window, in tokens; absent where no link has one. */
  readonly contextTokens?: number | undefined
}

/** What a request has before it is admitted. */
export interface RunningRequest
  extends Pick<ChainRequest, 'scope' | 'clock' | 'arrived' | 'resilience'> {
  readonly traffic: Traffic
  readonly rooms: Rooms
  readonly draws: Draws
}

/**
 * A request that was admitted: the only value with which a handler can run the chain, write the
 * headers of an answer, and end the request.
 */
export class AdmittedRequest implements ChainRequest {
  readonly route: ModelRoute
  readonly scope: CancelScope
  readonly clock: Clock
  readonly arrived: Millis
  readonly resilience: Resilience
  readonly #admission: Admission
  readonly #record: RecordBuilder
  readonly #traffic: Traffic
  readonly #rooms: Rooms
  readonly #draws: Draws
  readonly #costs: ReadonlyMap<Model, bigint>
  readonly #session: PinnedSession | undefined
  readonly #contextTokens: number | undefined
  /** That of the call sent last. */
  #credential: UsableCredential | undefined
  /** The fields that the link tried last leaves out, as dotted paths. */
  #dropped: readonly string[] = []

  constructor(options: AdmittedRequestOptions) {
    const { context, route, admission, record } = options
    this.route = route
    this.scope = context.scope
    this.clock = context.clock
    this.arrived = context.arrived
    this.resilience = context.resilience
    this.#admission = admission
    this.#record = record
    this.#traffic = context.traffic
    this.#rooms = context.rooms
    this.#draws = context.draws
    this.#costs = options.costs ?? noCosts
    this.#session = options.session
    this.#contextTokens = options.contextTokens
  }

  orderLinks(): readonly Model[] {
    const order = orderRoute(this.route, {
      session: this.#session,
      resilience: this.resilience,
      traffic: this.#traffic,
      random: this.#draws.next,
      isStream: this.#record.stream,
      costs: this.#costs,
    })
    const small = findSmall(order, this.#contextTokens)
    return small.size === 0 ? order : order.filter((link) => !small.has(link))
  }

  goesOnAfter(link: Model, failure: UpstreamFailure): boolean {
    const cause = findCause(failure)
    return cause !== undefined && goesOnAfter(this.route, link, cause)
  }

  enter(link: Model): boolean | Promise<boolean> {
    const early = link === this.route.chain[0] ? this.#record.places.takeEarly() : undefined
    const taking = early ?? this.#rooms.take(link)
    if (taking instanceof Promise) return taking.then((place) => this.#hold(place))
    return this.#hold(taking)
  }

  enterMore(link: Model, count: number): number | Promise<number> {
    const taking = this.#rooms.takeMore(link, count)
    return taking instanceof Promise
      ? taking.then((places) => this.#holdAll(places))
      : this.#holdAll(taking)
  }

  awaitRoom(links: readonly Model[]): Promise<Model | undefined> {
    return waitForRoom({
      links,
      rooms: this.#rooms,
      scope: this.scope,
      clock: this.clock,
      arrived: this.arrived,
      sender: this.#record.principal,
      places: this.#record.places,
    })
  }

  #hold(place: Place | undefined): boolean {
    if (place) this.#record.places.hold(place)
    return place !== undefined
  }

  #holdAll(places: readonly Place[]): number {
    for (const place of places) this.#record.places.hold(place)
    return places.length
  }

  onLinkStart(link: Model): void {
    this.#record.places.dropEarly()
    this.#record.startLink(link)
  }

  /** Records when a call to a link is sent. */
  markSent({ link, credential }: Pick<Attempt, 'link' | 'credential'>): void {
    this.#record.markSent(link)
    this.#credential = credential
  }

  findCredential(link: Model): string | undefined {
    return this.#session?.findCredential(link)
  }

  onServed(link: Model): void {
    this.#record.markServed()
    this.#session?.serve(link, this.#credential?.name)
  }

  onAttempt(link: Model, result: CallResult<unknown>): void {
    this.#record.addAttempt(link, result)
  }

  onUnused(link: Model, calls: readonly CallBill[]): void {
    this.#record.addUnused(link, calls)
  }

  get mayCallAgain(): boolean | Promise<boolean> {
    return this.#record.mayCallAgain
  }

  onParked(link: Model, parked: ParkedCredential): void {
    this.#record.addParked(link, parked)
  }

  onLinkFailure(failure: LinkFailure): void {
    this.#record.addLinkFailure(failure)
  }

  /** Records the images of the request. */
  addMedia(media: Media): void {
    this.#record.media = media
  }

  /** The maximum size of an answer that is kept; undefined where none is kept. */
  get maxKeptBytes(): Bytes | undefined {
    return this.#record.cache?.slot?.maxBytes
  }

  /** Keeps a whole answer for equal requests, where that is allowed. */
  keepWhole(sent: SentAnswer): void {
    const { media } = this.#record
    this.#record.cache?.slot?.keepWhole({ ...sent, media, dropped: this.#dropped })
  }

  /** Keeps a whole stream in the same way. */
  keepStream(sent: SentAnswer): void {
    const { media } = this.#record
    this.#record.cache?.slot?.keepStream({ ...sent, media, dropped: this.#dropped })
  }

  /** Creates the recorder of a stream; undefined where no stream is kept. */
  createRecorder(account: BufferAccount): StreamRecorder | undefined {
    const maxBytes = this.maxKeptBytes
    if (maxBytes === undefined) return undefined
    return new StreamRecorder({ maxBytes, onResize: (change) => account.addBody(change) })
  }

  /** Notes the fields that the next link to be tried leaves out. */
  noteDropped(paths: readonly string[]): void {
    this.#dropped = paths
  }

  /** The gateway's headers on an answer that this link has served. `cost`: of a priced answer. */
  headersFor({ id, provider }: Model, cost?: NanoUsd): HeaderList {
    return asHeaderList([
      'x-gateway-model-used',
      id,
      'x-gateway-provider',
      provider.name,
      attemptsHeader,
      String(this.#record.attempts),
      ...(cost === undefined ? [] : ['x-gateway-cost', formatUsd(cost)]),
      ...(cost === undefined || this.#record.priceLabel === undefined
        ? []
        : ['x-gateway-price', this.#record.priceLabel]),
      ...queuedHeader(this.#record.places.queued),
      ...(this.#dropped.length === 0 ? [] : ['x-gateway-dropped', formatPaths(this.#dropped)]),
      ...(this.#record.cache?.headers ?? []),
      ...this.#admission.headers,
    ])
  }

  /** The gateway's headers on a stream whose link is not known yet. */
  get headers(): HeaderList {
    return asHeaderList([...(this.#record.cache?.headers ?? []), ...this.#admission.headers])
  }

  /** Records that the client has its headers before a link has sent content. */
  markEarly(): void {
    this.#record.markEarly()
  }

  /** Ends the request with an error that its client gets in the stream. */
  fail(error: GatewayError): void {
    const { status, code: errorCode } = error
    this.#record.finish({ status, errorCode, refusal: describeRefusal(error, this.#record) })
  }

  /** Records that the first content of the stream has arrived. */
  markFirstToken(): void {
    this.#record.markFirstToken()
  }

  /** Records and logs that the stream of the serving link failed after its first content. */
  addStreamFailure(link: Model, failure: UpstreamFailure): void {
    this.#record.addStreamFailure(link, failure)
  }

  /** Counts and logs a stream that ended with `[DONE]` although no choice gave a finish reason. */
  addUnfinishedStream(link: Model): void {
    this.#record.addUnfinishedStream(link)
  }

  /** Undoes the admission, as if the request had not been admitted yet. */
  withdraw(): void {
    this.#record.withdrawAdmission()
  }

  /**
   * Ends the request: settles its admission and emits its record. Only the first call counts. Returns the
   * cost of the answer; undefined when its model has no prices.
   */
  finish(outcome: RequestOutcome): NanoUsd | undefined {
    return this.#record.finish(outcome)
  }
}

const noCosts: ReadonlyMap<Model, bigint> = new Map()

/** The header with the time that a request has waited for room at upstreams; none without a wait. */
export function queuedHeader(queued: Millis | undefined): readonly string[] {
  return queued === undefined ? [] : ['x-gateway-queued-ms', String(Math.round(queued))]
}

/** The header with the number of upstream calls. */
export const attemptsHeader = 'x-gateway-attempts'

/** The header of an answer for which no upstream was called. */
export const noAttempts: HeaderList = asHeaderList([attemptsHeader, '0'])
