import * as z from 'zod'
import type { EmbedEndpoint, RerankEndpoint } from '../../core/endpoints.ts'
import type { DialectTarget } from '../../core/provider-kind.ts'
import type { Ranking } from '../../core/rerank.ts'
import type { InputTypeWords } from '../base/embed-input-type.ts'
import { imagesAsTexts } from '../base/embed-modality.ts'
import { buildOperationUrl, encodeJsonBody } from '../base/request.ts'
import { documentIndex, toRerankFailure, toRerankResult } from '../base/rerank-answer.ts'
import { createErrorParser } from '../base/vendor-error.ts'
import { openAiEmbed } from '../openai/embed.ts'

/** Embeddings of NVIDIA, hosted or self-hosted. */
export function nvidiaEmbed({ baseUrl, upstreamId }: DialectTarget): EmbedEndpoint {
  // The suffix of a name says the same.
  const isNamed = /-(?:query|passage)$/.test(upstreamId)
  return openAiEmbed({
    url: buildOperationUrl(baseUrl, '/v1', '/embeddings'),
    upstreamId,
    limits: { items: 50 },
    mixed: imagesAsTexts,
    mapStatus: mapPendingStatus,
    ...(!isNamed && { inputType: { member: 'input_type', words: inputTypes } }),
  })
}

const inputTypes: InputTypeWords = Object.freeze({
  search_document: 'passage',
  search_query: 'query',
})

/** 202: accepted, and the result must be polled for, which the gateway does not do. */
export function mapPendingStatus(status: number): number {
  return status === 202 ? 503 : status
}

/** Rerank of NVIDIA, hosted or self-hosted. It ranks all documents, and scores are raw logits. */
export function nvidiaRerank({ baseUrl, upstreamId }: DialectTarget): RerankEndpoint {
  const url = buildRankingUrl(baseUrl, upstreamId)
  return {
    // A request can include up to 512 passages, says
    // https://docs.nvidia.com/nim/nemo-retriever/text-reranking/2.0.0/use-the-api-openai.html
    maxDocuments: 512,
    buildRequest: ({ query, documents }) => ({
      url,
      headers: {},
      body: encodeJsonBody({
        model: upstreamId,
        query: { text: query },
        passages: documents.map((text) => ({ text })),
      }),
    }),
    parseAnswer(body) {
      const parsed = nvidiaAnswer.safeParse(body)
      return parsed.success ? toRerankResult(parsed.data.rankings) : toRerankFailure(body)
    },
    parseError: createErrorParser(),
  }
}

const hosts: ReadonlySet<string> = new Set(['integrate.api.nvidia.com', 'ai.api.nvidia.com'])

/** The hosted API has a path for each model, in which `_` replaces the dots of the model's name. */
function buildRankingUrl(baseUrl: string, upstreamId: string): string {
  const { hostname, pathname } = new URL(baseUrl)
  if (/\/(?:re)?ranking\/*$/i.test(pathname)) return baseUrl
  if (!hosts.has(hostname)) return buildOperationUrl(baseUrl, '/v1', '/ranking')
  const url = new URL('https://ai.api.nvidia.com')
  url.pathname = `/v1/retrieval/${upstreamId.replaceAll('.', '_')}/reranking`
  return url.href
}

const logitEntry = z
  .looseObject({ index: documentIndex, logit: z.number() })
  .transform(({ index, logit: score }): Ranking => ({ index, score }))

const nvidiaAnswer = z.looseObject({ rankings: z.array(logitEntry) })
