import type { RerankEndpoint } from '../../core/endpoints.ts'
import type { DialectTarget } from '../../core/provider-kind.ts'
import { encodeJsonBody } from '../base/request.ts'
import { parseCohereRanking } from '../cohere/rerank.ts'
import { maskCredential, readAwsSecret } from './auth/credential.ts'
import { parseBedrockError } from './errors.ts'
import { buildBedrockUrl } from './url.ts'

/**
 * Rerank through InvokeModel, because the Rerank operation of the agent runtime accepts no API keys.
 * Amazon's model takes the body of Cohere's, without `api_version`.
 */
export function bedrockRerank(target: DialectTarget): RerankEndpoint {
  const { baseUrl, upstreamId, modelId, env, secret } = target
  const credential = readAwsSecret(secret ?? '', env)
  const location = { baseUrl, modelId: upstreamId, credentialRegion: credential.region, env }
  const url = buildBedrockUrl(location, 'invoke')
  // The ARN of an inference profile does not name its model; the client-facing id may.
  const isAmazonModel = /amazon[.-]rerank/i.test(`${upstreamId} ${modelId}`)
  return {
    buildRequest: ({ query, documents, topN }) => ({
      url,
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: encodeJsonBody({
        query,
        documents,
        top_n: topN,
        ...(!isAmazonModel && { api_version: 2 }),
      }),
    }),
    parseAnswer: parseCohereRanking,
    parseError: (status, body, header) =>
      parseBedrockError(status, maskCredential(body, credential), header),
  }
}
