import type { DialectTarget, EmbedEndpoint } from '../../core/provider.ts'
import { type EmbedQuirks, openAiEmbed } from '../openai/embed.ts'
import { parseVectorList } from '../shared/embed-answer.ts'
import { listTexts } from '../shared/embed-input.ts'
import { jsonBody } from '../shared/json-body.ts'
import { errorParser } from '../shared/parse-error.ts'
import { buildOperationUrl } from '../shared/url.ts'

/** What stands behind it is mostly Text Embeddings Inference, which takes 32 by default. */
const quirks: EmbedQuirks = { limits: { items: 32 } }

/**
 * Embeddings of Hugging Face: the task API of the router, which has the model in its path. An address
 * of the user's own is a dedicated endpoint, and speaks the OpenAI format.
 */
export function huggingFaceEmbed({
  baseUrl,
  hasCustomBaseUrl,
  upstreamId,
}: DialectTarget): EmbedEndpoint {
  if (hasCustomBaseUrl) {
    return openAiEmbed({
      ...quirks,
      url: buildOperationUrl(baseUrl, '/v1', '/embeddings'),
      upstreamId,
    })
  }
  const model = upstreamId.split('/').map(encodeURIComponent).join('/')
  return {
    getLimits: () => quirks.limits,
    supportsTokenIds: false,
    supportsImages: false,
    supportsDimensions: true,
    buildRequest: ({ input, dimensions }) => ({
      url: `https://router.huggingface.co/hf-inference/models/${model}/pipeline/feature-extraction`,
      headers: {},
      body: jsonBody({ inputs: listTexts(input), dimensions }),
    }),
    parseAnswer: (body) => parseVectorList(body, undefined),
    parseError: errorParser(),
  }
}
