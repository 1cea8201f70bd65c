import * as z from 'zod'
import type { EmbedEndpoint, RerankEndpoint } from '../../core/endpoints.ts'
import type { DialectTarget, ProviderKind } from '../../core/provider-kind.ts'
import { authorizeWithBearer } from '../base/credentials.ts'
import { parseCountHeader, parseVectorList } from '../base/embed-answer.ts'
import { listTexts } from '../base/embed-input.ts'
import { probeHealth } from '../base/probe.ts'
import { buildOperationUrl, encodeJsonBody, getBasePath } from '../base/request.ts'
import { scoreEntry, toRerankFailure, toRerankResult } from '../base/rerank-answer.ts'
import { createErrorParser, type MapStatus } from '../base/vendor-error.ts'
import { type EmbedQuirks, openAiEmbed } from '../openai/embed.ts'

/** Text Embeddings Inference, a self-hosted server that serves one model. */
export const tei: ProviderKind = Object.freeze({
  name: 'tei',
  capabilities: ['embed', 'rerank'],
  canFetchImages: false,
  createAuthorizer: authorizeWithBearer,
  probe: probeHealth('/health'),
  embed: teiEmbed,
  rerank: teiRerank,
} satisfies ProviderKind)

/**
 * The default of the server's `--max-client-batch-size`. See
 * https://huggingface.co/docs/text-embeddings-inference/cli_arguments
 */
const maxBatchItems = 32

const quirks: EmbedQuirks = { limits: { items: maxBatchItems }, supportsTokenIds: false }

/** Uses the server's native API, or its OpenAI layer when `base_url` ends in `/v1`. */
function teiEmbed({ baseUrl, upstreamId }: DialectTarget): EmbedEndpoint {
  const path = getBasePath(new URL(baseUrl))
  if (path.endsWith('/v1')) {
    const url = buildOperationUrl(baseUrl, '/v1', '/embeddings')
    return openAiEmbed({ ...quirks, url, upstreamId, mapStatus })
  }
  return {
    getLimits: () => quirks.limits,
    supportsTokenIds: false,
    supportsImages: false,
    supportsDimensions: true,
    buildRequest: ({ input, dimensions }) => ({
      url: buildOperationUrl(baseUrl, '', path.endsWith('/embed') ? '' : '/embed'),
      headers: {},
      body: encodeJsonBody({ inputs: listTexts(input), dimensions }),
    }),
    parseAnswer: (body, header) =>
      parseVectorList(body, parseCountHeader(header('x-compute-tokens'))),
    parseError: createErrorParser(mapStatus),
  }
}

/** The request names no model, and the answer is a bare list of scores. */
function teiRerank({ baseUrl }: DialectTarget): RerankEndpoint {
  const url = new URL(baseUrl)
  // The OpenAI layer under /v1 has no rerank.
  url.pathname = `${getBasePath(url).replace(/\/v1$/, '')}/rerank`
  url.hash = ''
  return {
    maxDocuments: maxBatchItems,
    buildRequest: ({ query, documents }) => ({
      url: url.href,
      headers: {},
      body: encodeJsonBody({ query, texts: documents }),
    }),
    parseAnswer(body) {
      const parsed = rerankAnswer.safeParse(body)
      return parsed.success ? toRerankResult(parsed.data) : toRerankFailure(body)
    },
    parseError: createErrorParser(mapStatus),
  }
}

const rerankAnswer = z.array(scoreEntry)

/**
 * 424 means that the backend failed, which is worth a retry, unless the message says that the model
 * is of another type.
 */
const mapStatus: MapStatus = (status, message) =>
  status === 424 && !/not an? [\w-]+ model/i.test(message) ? 500 : status
