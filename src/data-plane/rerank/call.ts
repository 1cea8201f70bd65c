import type { RerankEndpoint } from '../../core/endpoints.ts'
import type { Ranking, RerankCall } from '../../core/rerank.ts'
import type { Attempt, CallResult } from '../../resilience/index.ts'
import { callJson, type JsonCallDeps } from '../upstream/call-json.ts'
import { failed } from '../upstream/call-upstream.ts'

/** The part of a request that one upstream call ranks. */
export interface RerankPart {
  readonly call: RerankCall
  /** The index of its first document in the request. */
  readonly start: number
}

/** The results of one part. Their indexes are those in the whole request. */
export interface RankedPart {
  readonly results: readonly Ranking[]
  readonly searchUnits: number | undefined
  readonly tokens: number | undefined
}

/** Splits a request into calls of at most as many documents as the upstream accepts. */
export function splitDocuments(
  call: RerankCall,
  { maxDocuments }: Pick<RerankEndpoint, 'maxDocuments'>,
): RerankPart[] {
  const { documents } = call
  if (maxDocuments === undefined || documents.length <= maxDocuments) return [{ call, start: 0 }]
  const count = Math.ceil(documents.length / maxDocuments)
  return Array.from({ length: count }, (_, index) => {
    const start = index * maxDocuments
    // The best documents may all be in one part, so each part ranks all of its documents.
    const part = {
      ...call,
      documents: documents.slice(start, start + maxDocuments),
      topN: undefined,
    }
    return { call: part, start }
  })
}

/** An answer has three values for each document, and is read, and written, in some tens of milliseconds each. */
const maxValues = 200_000

/** Makes one upstream call, for one part. */
export function callRerank(
  { call, start }: RerankPart,
  attempt: Attempt,
  deps: JsonCallDeps,
): Promise<CallResult<RankedPart>> {
  // A route for rerank has only links with a rerank endpoint.
  const endpoint = attempt.link.rerank as RerankEndpoint
  return callJson({
    attempt,
    deps,
    maxValues,
    request: () => endpoint.buildRequest(call),
    parseError: (status, body, header) => endpoint.parseError(status, body, header),
    async readJson({ body, slice }): Promise<CallResult<RankedPart>> {
      const answer = endpoint.parseAnswer(body.value)
      if (slice) await slice.pause()
      if (!answer.ok) return answer
      const { results, searchUnits, tokens } = answer
      const problem = findProblem(results, call.documents.length)
      if (problem !== undefined) return failed({ kind: 'malformed', detail: problem })
      const placed = results.map(({ index, score }) => ({ index: start + index, score }))
      return { ok: true, value: { results: placed, searchUnits, tokens } }
    },
  })
}

/** Fewer results than documents are valid: some vendors omit documents that they cannot rank. */
function findProblem(results: readonly Ranking[], documents: number): string | undefined {
  if (results.length === 0) return 'it ranks no document'
  const indexes = results.map(({ index }) => index)
  if (indexes.some((index) => index >= documents)) return 'it ranks a document that was not sent'
  if (new Set(indexes).size < indexes.length) return 'it ranks a document twice'
  return undefined
}
