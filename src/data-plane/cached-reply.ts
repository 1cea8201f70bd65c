import type { CachedAnswer } from '../cache/index.ts'
import { jsonBytes, type Reply } from '../core/reply.ts'
import type { AdmittedRequest } from './admitted-request.ts'

/** Ends a request with an answer from the cache. It costs nothing. */
export function replyFromCache(answer: CachedAnswer, admitted: AdmittedRequest): Reply {
  const { chain, model } = admitted.route
  // The revision of the chain is part of the key, so the link that served is still in it.
  const served = chain.find(({ id }) => id === answer.servedBy) ?? model
  const { body, usage, searchUnits, media, dropped } = answer
  if (media) admitted.addMedia(media)
  admitted.noteDropped(dropped)
  const cost = admitted.finish({ status: 200, served, usage, searchUnits })
  const headers = admitted.headersFor(served, cost)
  return jsonBytes(body, { headers })
}
