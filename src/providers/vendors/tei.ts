import type { EmbedEndpoint, ProviderKind, Target } from '../../core/provider.ts'
import { type EmbedQuirks, openAiEmbed } from '../openai/embed.ts'
import { bearer } from '../shared/credentials.ts'
import { headerCount, readBareVectors } from '../shared/embed-answer.ts'
import { textsOf } from '../shared/embed-input.ts'
import { jsonBody } from '../shared/json-body.ts'
import { errorParser, type StatusOf } from '../shared/parse-error.ts'
import { liveAt } from '../shared/probe.ts'
import { basePath, operationUrl } from '../shared/url.ts'
import { teiRerank } from './tei-rerank.ts'

/** Text Embeddings Inference, a server that one runs oneself. */
export const tei: ProviderKind = Object.freeze({
  name: 'tei',
  capabilities: ['embed', 'rerank'],
  remoteImages: false,
  authorizer: bearer,
  probe: liveAt('/health'),
  embed: teiEmbed,
  rerank: (target) => teiRerank(target, statusOf),
} satisfies ProviderKind)

/** The server's `max_client_batch_size`, as it is by default. */
const habits: EmbedQuirks = { limits: { items: 32 }, takesTokens: false }

/** The server's own API; its OpenAI layer where the address ends in `/v1`. */
function teiEmbed({ baseUrl, upstreamId }: Target): EmbedEndpoint {
  const path = basePath(new URL(baseUrl))
  if (path.endsWith('/v1')) {
    const url = operationUrl(baseUrl, '/v1', '/embeddings')
    return openAiEmbed({ ...habits, url, upstreamId, statusOf })
  }
  return {
    limits: () => habits.limits,
    takesTokens: false,
    takesImages: false,
    takesDimensions: true,
    request: ({ input, dimensions }) => ({
      url: operationUrl(baseUrl, '', path.endsWith('/embed') ? '' : '/embed'),
      headers: {},
      body: jsonBody({ inputs: textsOf(input), dimensions }),
    }),
    answer: (body, header) => readBareVectors(body, headerCount(header('x-compute-tokens'))),
    parseError: errorParser(statusOf),
  }
}

/** 424: the backend has failed, and may do better next time, unless it is a model for other things. */
const statusOf: StatusOf = (status, message) =>
  status === 424 && !/not an? [\w-]+ model/i.test(message) ? 500 : status
