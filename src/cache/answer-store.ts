import type { Bytes, Millis } from '../core/ids.ts'
import type { BufferedBody } from '../core/ports.ts'
import type { Media } from '../core/request-record.ts'
import type { Usage } from '../core/usage.ts'

/** A complete answer with status 200, and what the record of a request with this answer needs. */
export interface CachedAnswer {
  /** The key of the request whose client got it. */
  readonly key: string
  /** The body, or the whole stream, as the client got it. */
  readonly body: BufferedBody
  readonly isStream: boolean
  /** The media type of the stream, where it is not that of server-sent events. */
  readonly streamType?: string | undefined
  /** The gateway wrote it, so its door can give it in another form. */
  readonly isWritten: boolean
  /** The id of the model that served. */
  readonly servedBy: string
  readonly usage: Usage
  readonly searchUnits: number | undefined
  readonly media: Media | undefined
  /** The paths of the fields that the link has left out. */
  readonly dropped: readonly string[]
}

/** What a stored answer belongs to. */
export interface AnswerOrigin {
  /** The id of the model that was asked for. */
  readonly model: string
  readonly revision: string
}

/** A place in the cache: the keys of a request, and the model that it belongs to. */
export interface AnswerPlace {
  /** That of the answers in the form of the request. */
  readonly key: string
  /** That of the answers which the gateway has written, in any form. */
  readonly writtenKey: string
  readonly origin: AnswerOrigin
  /** That of the store when the request looked here. */
  readonly generation: number
}

/** An answer that was found, and how long it has been stored. */
export interface FoundAnswer {
  readonly answer: CachedAnswer
  readonly age: Millis
}

export type PossibleAnswer = FoundAnswer | undefined | Promise<FoundAnswer | undefined>

/** Keeps answers under the digests of their requests. */
export interface AnswerStore {
  /** Grows when all answers are removed. */
  readonly generation: number
  /** Returns an answer that is not older than `ttl`: one of the request's form before one of another. */
  find(place: AnswerPlace, ttl: Millis): PossibleAnswer
  /** Stores an answer, if it fits. Others are removed to make room. `ttl`: how long it may be found. */
  put(place: AnswerPlace, answer: CachedAnswer, ttl: Millis): void
  /** Removes every answer for whose origin `isStale` is true, unless nothing can find it anyway. */
  removeStale(isStale: (origin: AnswerOrigin) => boolean): void
  /** Removes all answers, and returns how many they were. Throws or rejects with LM-5003 when it cannot. */
  clear(): number | Promise<number>
  readonly bytes: Bytes
  readonly entries: number
}
