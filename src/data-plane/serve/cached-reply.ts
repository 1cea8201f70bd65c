import type { CachedAnswer } from '../../cache/index.ts'
import { asHeaderList } from '../../core/ports.ts'
import { jsonBytes, type Reply, streamHeaders } from '../../core/reply.ts'
import type { AdmittedRequest } from '../request/admitted.ts'

/** Ends a request with an answer from the cache. It costs nothing. */
export function replyFromCache(answer: CachedAnswer, admitted: AdmittedRequest): Reply {
  const { chain } = admitted.route
  // The revision of the chain is part of the key, so the link that served is still in it.
  const served = chain.find(({ id }) => id === answer.servedBy) ?? chain[0]
  const { body, isStream, streamType, usage, searchUnits, media, dropped } = answer
  if (isStream) admitted.markFirstToken()
  if (media) admitted.addMedia(media)
  admitted.noteDropped(dropped)
  const cost = admitted.finish({ status: 200, served, usage, searchUnits })
  const headers = admitted.headersFor(served, cost)
  if (!isStream) return jsonBytes(body, { headers })
  const length = ['content-length', String(body.length)]
  return {
    status: 200,
    headers: asHeaderList([...streamHeaders(streamType), ...length, ...headers]),
    body,
  }
}
