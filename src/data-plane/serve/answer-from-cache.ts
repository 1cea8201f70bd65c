import type { CachedAnswer, Flight } from '../../cache/index.ts'
import type { Reply } from '../../core/reply.ts'
import { locateRequest } from '../cache/lookup.ts'
import { AnswerSlot, bypassed, createHit, createMiss } from '../cache/use.ts'
import type { RequestContext } from '../request/context.ts'
import { digestArrived } from './answer-repeat.ts'
import { replyFromCache } from './cached-reply.ts'
import type { PreparedRequest } from './prepared-request.ts'

/** How many requests of others one request waits for, if they end without an answer. */
const maxFollowed = 2

export interface CacheSearch {
  readonly context: RequestContext
  /** Of the request as it arrived; undefined where it has not been computed. */
  readonly digest: string | undefined
}

/**
 * Answers a request with the answer to an equal one: with a kept one, or with that of a request which is
 * running; LM-4002 when there is one but the request is not admitted. Resolves to undefined when the
 * upstream must be asked; other requests may then wait for this one. For routes with a cache only.
 */
export async function answerFromCache(
  prepared: PreparedRequest,
  { context, digest }: CacheSearch,
): Promise<Reply | undefined> {
  const { authenticated, request, bytes, slice, route, streamType } = prepared
  const { account, isStream } = authenticated
  const { cache, api } = context
  const lookup = { cache, request, bytes, slice, api, isStream, streamType, route, account }
  const located = await locateRequest(lookup)
  if (!located) return authenticated.useCache(bypassed)
  const { place, mayRead } = located
  if (mayRead) {
    const known = digest ?? (await digestArrived(prepared, context))
    // A repeated request need not be read.
    const { repeats } = cache
    // A switch may choose another target for the same bytes.
    if (known !== undefined && !authenticated.switched)
      repeats.note(known, context.snapshot, { model: route.id, isStream, place })
  }
  const attempts = mayRead ? maxFollowed : 0
  for (let followed = 0; followed < attempts; followed++) {
    const finding = cache.find(place)
    // Without a wait no equal request can come in between.
    const found = finding instanceof Promise ? await finding : finding
    if (found) {
      authenticated.useCache(createHit(found.age))
      const admitting = authenticated.admitHit(route)
      const admitted = admitting instanceof Promise ? await admitting : admitting
      const { answer } = found
      const isSame = answer.key === place.key
      return replyFromCache(isSame ? answer : await convert(answer, prepared), admitted)
    }
    // A stream asks the upstream itself: its first content should not wait for the end of another.
    if (isStream) break
    const running = cache.findFlight(place)
    if (!running) {
      const flight = cache.openFlight(place)
      return authenticated.useCache(createMiss(new AnswerSlot({ cache, place, api, flight })))
    }
    const reply = await follow(running, { prepared, context })
    if (reply) return reply
  }
  return authenticated.useCache(createMiss(new AnswerSlot({ cache, place, api })))
}

interface Asked {
  readonly prepared: PreparedRequest
  readonly context: RequestContext
}

/** Returns an answer to a request for another form in the form that this request asks for. */
async function convert(answer: CachedAnswer, prepared: PreparedRequest): Promise<CachedAnswer> {
  const { streamType, authenticated } = prepared
  const { isStream } = authenticated
  return { ...answer, body: await prepared.convertAnswer(answer), isStream, streamType }
}

/** Waits for the answer to another request, until the total timeout. It counts as a hit. */
async function follow(
  flight: Flight,
  { prepared: { authenticated, route }, context: { scope, clock, arrived } }: Asked,
): Promise<Reply | undefined> {
  // Before the admission, which may take a moment: the answer must not pass by meanwhile.
  const leave = flight.join()
  const totalTimeout = Math.max(...route.chain.map(({ provider }) => provider.totalTimeout))
  const left = arrived + totalTimeout - clock.elapsed()
  const stop = scope.endAfter(left, { kind: 'timeout', limit: 'total' })
  try {
    const admitting = authenticated.admitHit(route)
    const admitted = admitting instanceof Promise ? await admitting : admitting
    const answer = await scope.race(flight.landed)
    if (!answer) {
      admitted.withdraw()
      return undefined
    }
    authenticated.useCache(createHit(0))
    return replyFromCache(answer, admitted)
  } finally {
    stop()
    leave()
  }
}
