import type { DialectTarget, RerankEndpoint } from '../../core/provider.ts'
import { parseCohereRanking } from '../cohere/rerank.ts'
import { encodeJsonBody } from '../shared/request.ts'
import { maskCredential, readAwsSecret } from './auth/credential.ts'
import { bedrockRefusal } from './errors.ts'
import { bedrockUrl } from './url.ts'

/**
 * Rerank on Bedrock, by InvokeModel: the agents' own rerank operation takes no API keys. Amazon's
 * model has taken over the body of Cohere's, but for the version that this one insists on.
 */
export function bedrockRerank(target: DialectTarget): RerankEndpoint {
  const { baseUrl, upstreamId, modelId, env, secret } = target
  const credential = readAwsSecret(secret ?? '', env)
  const place = { baseUrl, modelId: upstreamId, credentialRegion: credential.region, env }
  const url = bedrockUrl(place, 'invoke')
  // The ARN of an inference profile tells nothing of its model; the client-facing id may.
  const isAmazons = /amazon[.-]rerank/i.test(`${upstreamId} ${modelId}`)
  return {
    buildRequest: ({ query, documents, topN }) => ({
      url,
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: encodeJsonBody({
        query,
        documents,
        top_n: topN,
        ...(!isAmazons && { api_version: 2 }),
      }),
    }),
    parseAnswer: parseCohereRanking,
    parseError: (status, body, header) =>
      bedrockRefusal(status, maskCredential(body, credential), header),
  }
}
