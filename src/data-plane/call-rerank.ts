import type { RerankEndpoint } from '../core/provider.ts'
import type { Ranking, RerankCall } from '../core/rerank.ts'
import type { AttemptContext, CallResult } from '../resilience/index.ts'
import { jsonIn } from '../wire/json.ts'
import { type CallSetting, callUpstream, failed, wholeBody } from './call-upstream.ts'

/** The documents of one upstream call. */
export interface RerankPart {
  readonly call: RerankCall
  /** The place of its first document in the request. */
  readonly start: number
}

/** What has come of a part. The places of its results are those in the request. */
export interface RankedPart {
  readonly results: readonly Ranking[]
  readonly searchUnits: number | undefined
  readonly tokens: number | undefined
}

/** Cuts a request into calls that the upstream takes. */
export function partsOf(
  call: RerankCall,
  { maxDocuments }: Pick<RerankEndpoint, 'maxDocuments'>,
): RerankPart[] {
  const { documents } = call
  if (maxDocuments === undefined || documents.length <= maxDocuments) return [{ call, start: 0 }]
  const count = Math.ceil(documents.length / maxDocuments)
  return Array.from({ length: count }, (_, index) => {
    const start = index * maxDocuments
    // The best of all may stand in one part, so every part ranks all of its documents.
    const part = {
      ...call,
      documents: documents.slice(start, start + maxDocuments),
      topN: undefined,
    }
    return { call: part, start }
  })
}

/** One upstream call, for one part. */
export function callRerank(
  { call, start }: RerankPart,
  { link, scope, mayResend }: AttemptContext,
  { clock, share }: CallSetting,
): Promise<CallResult<RankedPart>> {
  // The route was chosen for its rerank capability, so there is an endpoint.
  const endpoint = link.rerank as RerankEndpoint
  return callUpstream<RankedPart>({
    link,
    scope,
    mayResend,
    clock,
    share,
    streamed: false,
    request: () => endpoint.buildRequest(call),
    refusal: (status, body, header) => endpoint.parseError(status, body, header),
    async read(response) {
      const reading = endpoint.parseAnswer(jsonIn(await wholeBody(response, { scope, share })))
      if (!reading.ok) return reading
      const { results, searchUnits, tokens } = reading
      const problem = whatIsWrong(results, call.documents.length)
      if (problem !== undefined) return failed({ kind: 'malformed', detail: problem })
      const placed = results.map(({ index, score }) => ({ index: start + index, score }))
      return { ok: true, value: { results: placed, searchUnits, tokens } }
    },
  })
}

/** Fewer results than documents are no fault: some vendors leave out what they cannot rank. */
function whatIsWrong(results: readonly Ranking[], documents: number): string | undefined {
  if (results.length === 0) return 'it ranks none of the documents'
  const indexes = results.map(({ index }) => index)
  if (indexes.some((index) => index >= documents)) return 'it ranks a document that was not sent'
  if (new Set(indexes).size < indexes.length) return 'it ranks a document twice'
  return undefined
}
