import type { RerankEndpoint } from '../core/provider.ts'
import { jsonBytes, type Reply } from '../core/reply.ts'
import type { Ranking, RerankCall } from '../core/rerank.ts'
import { runSplitChain, type Served } from '../resilience/index.ts'
import { callRerank, partsOf, type RankedPart, type RerankPart } from './call-rerank.ts'
import type { Exchange } from './exchange.ts'
import { countsOf, renderCounts, usageOf } from './rerank-counts.ts'
import { readRerank } from './rerank-input.ts'
import { estimateRerankUsage } from './usage-estimate.ts'

/** `POST /v1/rerank`, and its aliases. */
export async function rerank(request: Request, exchange: Exchange): Promise<Reply> {
  const { snapshot } = exchange
  const call = await readRerank(await exchange.body(request), exchange.pace)
  exchange.parsed()
  const route = snapshot.resolve(call.model, 'rerank')
  exchange.routed(route)
  exchange.admit(route, () => estimateRerankUsage(call))

  const served = await runSplitChain<RerankPart, RankedPart>(exchange.chainOf(route), {
    // The chain was chosen for its rerank capability, so every link has the dialect.
    split: (link) => partsOf(call, link.rerank as RerankEndpoint),
    attempt: async (part, context) => {
      const result = await callRerank(part, context, exchange)
      exchange.attempted(context.link, result)
      return result
    },
  })
  return answer(call, served, exchange)
}

function answer(
  call: RerankCall,
  { value: parts, link, scope }: Served<readonly RankedPart[]>,
  exchange: Exchange,
): Reply {
  scope.close()
  const asked = call.topN ?? call.documents.length
  const results = inOrder(parts).slice(0, asked)
  if (results.length < asked) {
    exchange.log.write('warn', 'fewer results than asked for', {
      request_id: exchange.id,
      model: link.id,
      provider: link.provider.name,
      asked,
      results: results.length,
    })
  }
  const counts = countsOf(call, parts)
  const body = JSON.stringify({
    model: link.id,
    results: results.map((result) => render(result, call)),
    usage: renderCounts(counts),
  })
  const searchUnits = counts.searchUnits.value
  exchange.settle({ status: 200, served: link, usage: usageOf(counts), searchUnits })
  return jsonBytes(encoder.encode(body), { headers: exchange.headersOf(link) })
}

const encoder = new TextEncoder()

/** The results of all parts, the best first, documents of one score in the order of the request. */
function inOrder(parts: readonly RankedPart[]): Ranking[] {
  return parts
    .flatMap(({ results }) => results)
    .sort((a, b) => b.score - a.score || a.index - b.index)
}

/** The document is echoed from the request: vendors differ in the shape, and it would cost traffic. */
function render({ index, score }: Ranking, { documents, returnDocuments }: RerankCall): object {
  return {
    index,
    relevance_score: score,
    ...(returnDocuments && { document: { text: documents[index] } }),
  }
}
