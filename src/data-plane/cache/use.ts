import type { AnswerCache, AnswerPlace, Flight } from '../../cache/index.ts'
import type { Api } from '../../core/capability.ts'
import type { CacheResult } from '../../core/gateway-events.ts'
import type { Bytes, Millis } from '../../core/ids.ts'
import { asHeaderList, type BufferedBody, type HeaderList } from '../../core/ports.ts'
import type { Model } from '../../core/provider.ts'
import type { Media } from '../../core/request-record.ts'
import type { Usage } from '../../core/usage.ts'
import type { CancelScope } from '../../wire/cancel-scope.ts'
import { isFinishedAnswer } from './finished-answer.ts'

/** How the cache serves one request. */
export interface CacheUse {
  readonly result: CacheResult
  /** The headers that name the result. */
  readonly headers: HeaderList
  /** Where a complete answer goes; absent where none is kept. */
  readonly slot?: AnswerSlot | undefined
}

/** The use of the cache by a request that neither reads nor writes it. */
export const bypassed: CacheUse = Object.freeze({
  result: 'bypass',
  headers: asHeaderList(['x-gateway-cache', 'bypass']),
})

/** Returns the use of the cache by a request that was answered from it. */
export function createHit(age: Millis): CacheUse {
  const seconds = String(Math.floor(age / 1000))
  return { result: 'hit', headers: asHeaderList(['x-gateway-cache', 'hit', 'age', seconds]) }
}

/** Returns the use of the cache by a request whose answer will be kept. */
export function createMiss(slot: AnswerSlot): CacheUse {
  return { result: 'miss', headers: missHeaders, slot }
}

const missHeaders = asHeaderList(['x-gateway-cache', 'miss'])

/** A complete answer in the API of its client. */
export interface KeptAnswer {
  readonly body: BufferedBody
  readonly isStream: boolean
}

/** An answer as its client got it. */
export interface SentAnswer {
  readonly body: BufferedBody
  /** The link that served. */
  readonly link: Model
  readonly usage: Usage
  readonly searchUnits?: number | undefined
  /** The gateway wrote it, so its door can give it in another form. */
  readonly isWritten?: boolean
  /** The media type of a stream, where it is not that of server-sent events. */
  readonly streamType?: string | undefined
}

/** A sent answer, with what its request adds. */
interface RequestAnswer extends SentAnswer {
  readonly media: Media | undefined
  readonly dropped: readonly string[]
}

export interface AnswerSlotOptions {
  readonly cache: AnswerCache
  readonly place: AnswerPlace
  readonly api: Api
  /** The equal requests that wait for the answer; absent where none may. */
  readonly flight?: Flight | undefined
}

/** Keeps the answer of one request. */
export class AnswerSlot {
  readonly #options: AnswerSlotOptions
  #hasClientLeft = false

  constructor(options: AnswerSlotOptions) {
    this.#options = options
  }

  /** The call to the upstream went on without the client, because equal requests waited for it. */
  get hasClientLeft(): boolean {
    return this.#hasClientLeft
  }

  /** Ends the scope of a client that has left: now, or when no equal request waits any more. */
  leave(scope: CancelScope): void {
    const end = () => scope.end({ kind: 'client-cancelled' })
    if (this.#options.flight?.handOver(end)) this.#hasClientLeft = true
    else end()
  }

  /** Ends the wait of equal requests: there is no answer, or it has been kept. */
  close(): void {
    this.#options.flight?.land(undefined)
  }

  /** The maximum size of an answer. */
  get maxBytes(): Bytes {
    return this.#options.cache.maxBodyBytes
  }

  /** Keeps a whole answer, if it is complete. */
  keepWhole(sent: RequestAnswer): void {
    const { api } = this.#options
    if (sent.body.length > this.maxBytes || !isFinishedAnswer(api, sent.body)) return
    this.#keep(sent, false)
  }

  /** Keeps a whole stream. */
  keepStream(sent: RequestAnswer): void {
    this.#keep(sent, true)
  }

  #keep({ link, searchUnits, isWritten = false, ...sent }: RequestAnswer, isStream: boolean): void {
    const { cache, place, flight } = this.#options
    const { key } = place
    const answer = { ...sent, key, searchUnits, servedBy: link.id, isStream, isWritten }
    cache.keep(place, answer)
    flight?.land(answer)
  }
}
