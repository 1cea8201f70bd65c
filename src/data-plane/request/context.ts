import type { AnswerCache } from '../../cache/index.ts'
import type { Api } from '../../core/capability.ts'
import type { Millis, RequestId } from '../../core/ids.ts'
import type { Clock, ImageFetchPort, IsUtf8, Log, TokenEncoding } from '../../core/ports.ts'
import type { Model } from '../../core/provider.ts'
import type { StreamClasses } from '../../core/streams.ts'
import type { Resilience } from '../../resilience/index.ts'
import type { Rooms } from '../../rooms/index.ts'
import type { Draws, Traffic } from '../../routing/index.ts'
import type { Snapshot } from '../../snapshot/index.ts'
import { findEncoding } from '../../tokens/index.ts'
import type { RequestTrace } from '../../traces/index.ts'
import type { BufferAccount, Buffers } from '../../wire/buffers.ts'
import type { CancelScope } from '../../wire/cancel-scope.ts'
import { TimeSlice } from '../../wire/time-slice.ts'
import { AuthenticatedRequest } from './authenticated.ts'
import type { RequestContextOptions } from './options.ts'

/**
 * What a handler serves one request with. Nothing in it changes while the request runs.
 *
 * The types hold the order of a request: `authenticate` returns the only value that can read the
 * body, resolve a model and `admit`; `admit` returns the only value that can run a chain and answer.
 */
export class RequestContext {
  readonly id: RequestId
  /** The configuration in force when the request arrived. */
  readonly snapshot: Snapshot
  /** Ends when the client leaves or the process must stop. */
  readonly scope: CancelScope
  readonly clock: Clock
  readonly isUtf8: IsUtf8
  readonly log: Log
  readonly streams: StreamClasses
  readonly traffic: Traffic
  readonly rooms: Rooms
  readonly imageFetch: ImageFetchPort | undefined
  readonly resilience: Resilience
  readonly draws: Draws
  readonly buffers: Buffers
  /** Counts the bytes that this request holds of `buffers`. */
  readonly bufferAccount: BufferAccount
  readonly trace: RequestTrace
  /** On the clock that never jumps. */
  readonly arrived: Millis
  readonly #options: RequestContextOptions

  constructor(options: RequestContextOptions) {
    const { ports, record } = options
    this.id = options.origin.id
    this.snapshot = options.snapshot
    this.scope = options.scope
    this.clock = ports.clock
    this.isUtf8 = ports.isUtf8
    this.log = ports.log
    this.streams = ports.streams
    this.traffic = ports.traffic
    this.rooms = ports.rooms
    this.imageFetch = ports.imageFetch
    this.resilience = options.resilience
    this.draws = options.draws
    this.buffers = options.buffers
    this.bufferAccount = options.bufferAccount
    this.trace = options.trace
    this.arrived = record.arrived
    this.#options = options
  }

  get api(): Api {
    return this.#options.api
  }

  get cache(): AnswerCache {
    return this.#options.ports.cache
  }

  /** Identifies the sender, or throws LM-4004. */
  authenticate(request: Request): AuthenticatedRequest {
    const { ports, origin, record } = this.#options
    const principal = ports.authenticator.authenticate(request, origin)
    record.principal = principal
    record.asked = this.#options.modelInPath
    return new AuthenticatedRequest(this, this.#options, principal)
  }

  /** Ends the request so long after its arrival; other limits may end it sooner. */
  limitTime(timeout: Millis): void {
    this.scope.endAfter(this.arrived + timeout - this.clock.elapsed(), askedTimeoutFired)
  }

  /** Starts a time slice for the long computations of this request. */
  startTimeSlice(): TimeSlice {
    return new TimeSlice(this.clock, this.scope)
  }

  /** Lets the next large body be parsed: nothing holds the parsed form of this one any longer. */
  releaseParser(): void {
    this.#options.slot.endParsing()
  }

  /** Gives back the room of the body: nothing holds its bytes any longer. */
  releaseBody(): void {
    this.#options.slot.release()
  }

  /** The encoding to count a link's tokens with; undefined where estimates are not replaced. */
  findEncoding(link: Model): TokenEncoding | undefined {
    const isWanted = this.snapshot.tokenizer === 'accurate' && this.#options.canCount
    return isWanted ? findEncoding(link) : undefined
  }
}

const askedTimeoutFired = Object.freeze({ kind: 'timeout', limit: 'asked' } as const)
