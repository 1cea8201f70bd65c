import type { CachedAnswer, Flight, LocatedRequest } from '../../cache/index.ts'
import type { RequestEvents } from '../../core/gateway-events.ts'
import type { Millis } from '../../core/ids.ts'
import type { BufferedBody, Clock } from '../../core/ports.ts'
import type { Reply } from '../../core/reply.ts'
import type { CancelScope } from '../../wire/cancel-scope.ts'
import { type CacheLookup, locateRequest } from '../cache/lookup.ts'
import {
  AnswerSlot,
  bypassed,
  type CacheUse,
  createHit,
  createMiss,
  type KeptAnswer,
} from '../cache/use.ts'
import type { AdmittedRequest } from './admitted.ts'
import { replyFromCache } from './cached-reply.ts'

/** A request to a model while the cache is on, and what the cache may do with it. */
export interface CacheableRequest extends CacheLookup {
  readonly events: Pick<RequestEvents, 'cacheUsed'>
  readonly scope: CancelScope
  readonly clock: Clock
  /** When the request arrived, on the clock that never jumps. */
  readonly arrived: Millis
  /** Returns an answer to an equal request in the form that this one asks for. */
  convertAnswer(kept: KeptAnswer): BufferedBody | Promise<BufferedBody>
  /** Admits the request as a hit, or throws LM-4002. */
  admitHit(): AdmittedRequest | Promise<AdmittedRequest>
  /** Notes how the cache serves the request. */
  noteUse(use: CacheUse): void
  /** Notes what the request asks for, so that a repeated one need not be read. */
  noteLocated(located: LocatedRequest): void
}

/** How many requests of others one request waits for, if they end without an answer. */
const maxFollowed = 2

/**
 * Answers a request with the answer to an equal one: with a kept one, or with that of a request which is
 * running. Resolves to undefined when the upstream must be asked; other requests may then wait for this one.
 */
export async function answerFromCache(asked: CacheableRequest): Promise<Reply | undefined> {
  const located = await locateRequest(asked)
  if (!located) return useCache(asked, bypassed)
  const { cache, api, isStream } = asked
  const { place, mayRead } = located
  if (mayRead) asked.noteLocated({ model: asked.route.id, isStream, place })
  const attempts = mayRead ? maxFollowed : 0
  for (let followed = 0; followed < attempts; followed++) {
    const finding = cache.find(place)
    // Without a wait no equal request can come in between.
    const found = finding instanceof Promise ? await finding : finding
    if (found) {
      useCache(asked, createHit(found.age))
      const admitting = asked.admitHit()
      const admitted = admitting instanceof Promise ? await admitting : admitting
      const { answer } = found
      const isSame = answer.key === place.key
      return replyFromCache(isSame ? answer : await convert(answer, asked), admitted)
    }
    // A stream asks the upstream itself: its first content should not wait for the end of another.
    if (isStream) break
    const running = cache.findFlight(place)
    if (!running) {
      const flight = cache.openFlight(place)
      return useCache(asked, createMiss(new AnswerSlot({ cache, place, api, flight })))
    }
    const reply = await follow(running, asked)
    if (reply) return reply
  }
  return useCache(asked, createMiss(new AnswerSlot({ cache, place, api })))
}

/** Returns an answer to a request for another form in the form that this request asks for. */
async function convert(
  answer: CachedAnswer,
  { convertAnswer, isStream }: CacheableRequest,
): Promise<CachedAnswer> {
  return { ...answer, body: await convertAnswer(answer), isStream }
}

/** Waits for the answer to another request, until the total timeout. It counts as a hit. */
async function follow(flight: Flight, asked: CacheableRequest): Promise<Reply | undefined> {
  const { scope, clock, arrived, route } = asked
  // Before the admission, which may take a moment: the answer must not pass by meanwhile.
  const leave = flight.join()
  const totalTimeout = Math.max(...route.chain.map(({ provider }) => provider.totalTimeout))
  const left = arrived + totalTimeout - clock.elapsed()
  const stop = scope.endAfter(left, { kind: 'timeout', limit: 'total' })
  try {
    const admitting = asked.admitHit()
    const admitted = admitting instanceof Promise ? await admitting : admitting
    const answer = await scope.race(flight.landed)
    if (!answer) {
      admitted.withdraw()
      return undefined
    }
    useCache(asked, createHit(0))
    return replyFromCache(answer, admitted)
  } finally {
    stop()
    leave()
  }
}

function useCache({ events, noteUse }: CacheableRequest, use: CacheUse): undefined {
  events.cacheUsed(use.result)
  noteUse(use)
}
