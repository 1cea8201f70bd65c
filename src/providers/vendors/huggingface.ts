import type { DialectTarget, EmbedEndpoint } from '../../core/provider.ts'
import { type EmbedQuirks, openAiEmbed } from '../openai/embed.ts'
import { parseVectorList } from '../shared/embed-answer.ts'
import { listTexts } from '../shared/embed-input.ts'
import { buildOperationUrl, encodeJsonBody } from '../shared/request.ts'
import { createErrorParser } from '../shared/vendor-error.ts'

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
      body: encodeJsonBody({ inputs: listTexts(input), dimensions }),
    }),
    parseAnswer: (body) => parseVectorList(body, undefined),
    parseError: createErrorParser(),
  }
}
