import type { Model, RerankEndpoint } from '../core/provider.ts'
import { jsonBytes, type Reply } from '../core/reply.ts'
import type { Ranking, RerankCall } from '../core/rerank.ts'
import { runSplitChain, type Served } from '../resilience/index.ts'
import { estimateRerank } from '../tokens/index.ts'
import type { Exchange } from './exchange.ts'
import { attemptRerank, partsOf, type RankedPart, type RerankPart } from './rerank-attempt.ts'
import { parseRerank } from './rerank-input.ts'
import { servedBy } from './served-by.ts'

/** `POST /v1/rerank`, and its aliases. */
export async function rerank(request: Request, exchange: Exchange): Promise<Reply> {
  const { snapshot, scope, clock } = exchange
  const call = parseRerank(await exchange.body(request))
  const route = snapshot.route(call.model, 'rerank')
  exchange.routed(route)

  const served = await runSplitChain<RerankPart, RankedPart>({
    route,
    scope,
    clock,
    arrived: exchange.arrived,
    resilience: exchange.resilience,
    // The chain was chosen for its rerank capability, so every link has the dialect.
    split: (link) => partsOf(call, link.rerank as RerankEndpoint),
    attempt: async (link, part, partScope) => {
      const result = await attemptRerank({ part, link, scope: partScope, clock })
      exchange.attempted(link, result)
      return result
    },
  })
  return answer(call, served, exchange)
}

const encoder = new TextEncoder()

function answer(
  call: RerankCall,
  { value: parts, link, scope }: Served<readonly RankedPart[]>,
  exchange: Exchange,
): Reply {
  scope.close()
  const results = best(call, parts)
  if (results.length < wanted(call)) noteMissing(call, results, link, exchange)
  const { tokens, searchUnits } = countsOf(call, parts)
  const body = encoder.encode(
    JSON.stringify({
      model: link.id,
      results: results.map(({ index, score }) => ({
        index,
        relevance_score: score,
        ...(call.returnDocuments && { document: { text: call.documents[index] } }),
      })),
      usage: {
        search_units: searchUnits.count,
        total_tokens: tokens.count,
        tokens_estimated: tokens.estimated,
        ...(searchUnits.estimated && { estimated: true }),
      },
    }),
  )
  const usage = {
    promptTokens: tokens.count,
    completionTokens: 0,
    totalTokens: tokens.count,
    estimated: tokens.estimated,
  }
  exchange.settle({ status: 200, served: link, usage, searchUnits: searchUnits.count })
  return jsonBytes(body, { headers: servedBy(link) })
}

/** The results of all parts, the best first, documents of one score in the order of the request. */
function best(call: RerankCall, parts: readonly RankedPart[]): readonly Ranking[] {
  return parts
    .flatMap(({ results }) => results)
    .sort((a, b) => b.score - a.score || a.index - b.index)
    .slice(0, wanted(call))
}

function wanted({ topN, documents }: RerankCall): number {
  return topN ?? documents.length
}

function noteMissing(
  call: RerankCall,
  { length: results }: readonly Ranking[],
  { id: model, provider }: Model,
  { log, id }: Exchange,
): void {
  log.write('warn', 'fewer results than asked for', {
    request_id: id,
    model,
    provider: provider.name,
    asked: wanted(call),
    results,
  })
}

interface Count {
  readonly count: number
  readonly estimated: boolean
}

/** A search unit is a query with up to so many documents. */
const documentsPerUnit = 100

function countsOf(
  call: RerankCall,
  parts: readonly RankedPart[],
): { readonly tokens: Count; readonly searchUnits: Count } {
  return {
    tokens: countOr(
      parts.map(({ tokens }) => tokens),
      () => estimateRerank(call),
    ),
    searchUnits: countOr(
      parts.map(({ searchUnits }) => searchUnits),
      () => Math.ceil(call.documents.length / documentsPerUnit),
    ),
  }
}

/** The sum of what was reported, or an estimate unless all parts have reported. */
function countOr(reported: readonly (number | undefined)[], estimate: () => number): Count {
  const known = reported.filter((count) => count !== undefined)
  if (known.length < reported.length) return { count: estimate(), estimated: true }
  return { count: known.reduce((sum, count) => sum + count, 0), estimated: false }
}
