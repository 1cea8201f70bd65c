import type { UsageEstimate } from '../../core/admission.ts'
import type { DialectRequest, RerankEndpoint } from '../../core/endpoints.ts'
import type { Model } from '../../core/provider.ts'
import { jsonBytes, type Reply } from '../../core/reply.ts'
import type { Ranking, RerankCall } from '../../core/rerank.ts'
import type { ModelRoute } from '../../core/route.ts'
import { type CallBill, runSplitChain, type Served } from '../../resilience/index.ts'
import type { AdmittedRequest } from '../request/admitted.ts'
import type { RequestContext } from '../request/context.ts'
import { type ArrivedRequest, PreparedRequest } from '../serve/prepared-request.ts'
import { createService, type Service } from '../serve/service.ts'
import { callRerank, type RankedPart, type RerankPart, splitDocuments } from './call.ts'
import { countRerank, estimateUsage, renderRerankUsage, toUsage } from './counts.ts'
import { readRerank } from './input.ts'

/** `POST /v1/rerank`, and its aliases. */
export const rerank: Service = createService<PreparedRerank>({
  api: 'rerank',
  async read(arrived, context) {
    const { authenticated, bytes, slice } = arrived
    const call = await readRerank(bytes, slice) // LM-1001, LM-2010
    context.releaseParser()
    const countInput = () => estimateUsage(call).promptTokens
    const route = authenticated.resolve(call, { bytes, countInput }) // LM-2001, LM-4005, LM-2002
    return new PreparedRerank(arrived, { call, route })
  },
  async run({ call }, { context, admitted }) {
    const served = await runSplitChain<RerankPart, RankedPart>(admitted, {
      split: (link) => splitDocuments(call, getEndpoint(link)),
      call: (part, attempt) => callRerank(part, attempt, context),
      bill: toBill,
    }) // LM-3xxx, LM-6001
    return reply(served, { call, context, admitted })
  },
})

interface ReadRerank {
  readonly call: RerankCall
  readonly route: ModelRoute
}

/** A request to rank documents whose route is known. */
class PreparedRerank extends PreparedRequest {
  readonly call: RerankCall

  constructor(arrived: ArrivedRequest, { call, route }: ReadRerank) {
    super(arrived, route)
    this.call = call
  }

  /** Every link can rank every request. */
  override check(): void {}

  override listDropped(): readonly string[] {
    return []
  }

  override estimate(): UsageEstimate {
    return estimateUsage(this.call)
  }

  override buildRequest(link: Model): DialectRequest {
    const endpoint = getEndpoint(link)
    // A request has at least one document, so it has a part.
    const [first] = splitDocuments(this.call, endpoint) as [RerankPart]
    return endpoint.buildRequest(first.call)
  }
}

/** A route for rerank has only links with a rerank endpoint. */
function getEndpoint(link: Model): RerankEndpoint {
  return link.rerank as RerankEndpoint
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
      usage: renderRerankUsage(counts),
    }),
  )
  const usage = toUsage(counts)
  const searchUnits = counts.searchUnits.value
  admitted.keepWhole({ body, link, usage, searchUnits })
  const cost = admitted.finish({ status: 200, served: link, usage, searchUnits })
  return jsonBytes(body, { headers: admitted.headersFor(link, cost) })
}

function toBill(ranked: RankedPart, { call }: RerankPart): CallBill {
  const counts = countRerank(call, [ranked])
  return { usage: toUsage(counts), searchUnits: counts.searchUnits.value }
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
