import type { Reply } from '../../core/reply.ts'
import { digestRequest } from '../cache/digest-request.ts'
import { createHit } from '../cache/use.ts'
import type { RequestContext } from '../request/context.ts'
import { replyFromCache } from './cached-reply.ts'
import type { ArrivedRequest } from './prepared-request.ts'

/** Returns the digest by which the cache knows a repeated request; undefined for one that must be read. */
export function digestArrived(
  { authenticated: { account }, request, bytes }: ArrivedRequest,
  { cache, api }: RequestContext,
): string | Promise<string> | undefined {
  return digestRequest({ cache, request, bytes, api, account })
}

export interface RepeatSearch extends Pick<RequestContext, 'cache' | 'snapshot'> {
  readonly digest: string
}

/**
 * Answers a request from the cache whose exact bytes were read and checked before; LM-4005, LM-4002.
 * Resolves to undefined for any other, which must be read.
 */
export async function answerRepeat(
  { authenticated, bytes }: ArrivedRequest,
  { cache, snapshot, digest }: RepeatSearch,
): Promise<Reply | undefined> {
  const known = cache.repeats.find(digest, snapshot)
  if (!known) return undefined
  const { model, isStream: stream, place } = known
  // What a switch has chosen is not noted, so the model is no switch.
  const route = authenticated.resolve({ model, stream }, { bytes, countInput: () => 0 })
  const finding = cache.find(place)
  const found = finding instanceof Promise ? await finding : finding
  // An answer in another form is converted by the door, which has to read the request.
  if (found?.answer.key !== place.key) return undefined
  authenticated.useCache(createHit(found.age))
  const admitting = authenticated.admitHit(route)
  const admitted = admitting instanceof Promise ? await admitting : admitting
  return replyFromCache(found.answer, admitted)
}
