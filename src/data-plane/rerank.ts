import type { RerankEndpoint } from '../core/endpoints.ts'
import { jsonBytes, type Reply } from '../core/reply.ts'
import type { Ranking, RerankCall } from '../core/rerank.ts'
import { runSplitChain, type Served } from '../resilience/index.ts'
import type { AdmittedRequest } from './admitted-request.ts'
import { callRerank, type RankedPart, type RerankPart, splitDocuments } from './call-rerank.ts'
import type { RequestContext } from './request-context.ts'
import { countRerank, renderCounts, toUsage } from './rerank-counts.ts'
import { readRerank } from './rerank-input.ts'
import { estimateRerankUsage } from './usage-estimate.ts'

/** `POST /v1/rerank`, and its aliases. */
export async function rerank(request: Request, context: RequestContext): Promise<Reply> {
  const slice = context.startTimeSlice()
  const authenticated = context.authenticate(request) // LM-4004
  const bytes = await authenticated.readBody(request) // LM-1002
  const call = await readRerank(bytes, slice) // LM-1001, LM-2010
  context.releaseParser()
  const route = authenticated.resolve(call) // LM-2001, LM-4005, LM-2002
  const cached =
    route.cache && (await authenticated.answerFromCache(route, { request, bytes, slice }))
  if (cached) return cached // LM-4002
  const admitted = authenticated.admit(route, () => estimateRerankUsage(call)) // LM-4002, LM-4003, LM-4006, LM-4001

  const served = await runSplitChain<RerankPart, RankedPart>(admitted, {
    // A route for rerank has only links with a rerank endpoint.
    split: (link) => splitDocuments(call, link.rerank as RerankEndpoint),
    call: (part, attempt) => callRerank(part, attempt, context),
  }) // LM-3xxx, LM-6001
  return reply(served, { call, context, admitted })
}

interface ServedCall {
  readonly call: RerankCall
  readonly context: RequestContext
  readonly admitted: AdmittedRequest
}

function reply(
  { value: parts, link, scope }: Served<readonly RankedPart[]>,
  { call, context, admitted }: ServedCall,
): Reply {
  scope.close()
  const asked = call.topN ?? call.documents.length
  const results = mergeRanked(parts).slice(0, asked)
  if (results.length < asked) {
    context.log.write('warn', 'fewer results than requested', {
      request_id: context.id,
      model: link.id,
      provider: link.provider.name,
      asked,
      results: results.length,
    })
  }
  const counts = countRerank(call, parts)
  const body = encoder.encode(
    JSON.stringify({
      model: link.id,
      results: results.map((result) => renderResult(result, call)),
      usage: renderCounts(counts),
    }),
  )
  const usage = toUsage(counts)
  const searchUnits = counts.searchUnits.value
  admitted.keepWhole({ body, link, usage, searchUnits })
  const cost = admitted.finish({ status: 200, served: link, usage, searchUnits })
  return jsonBytes(body, { headers: admitted.headersFor(link, cost) })
}

const encoder = new TextEncoder()

/** Merges the results of all parts, best first; equal scores stay in the order of the request. */
function mergeRanked(parts: readonly RankedPart[]): Ranking[] {
  return parts
    .flatMap(({ results }) => results)
    .sort((a, b) => b.score - a.score || a.index - b.index)
}

/** Echoes the document from the request: vendors differ in its shape, and it would cost traffic. */
function renderResult({ index, score }: Ranking, call: RerankCall): object {
  return {
    index,
    relevance_score: score,
    ...(call.returnDocuments && { document: { text: call.documents[index] } }),
  }
}
