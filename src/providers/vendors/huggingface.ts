import * as z from 'zod'
import type { EmbedEndpoint } from '../../core/endpoints.ts'
import type { DialectTarget } from '../../core/provider-kind.ts'
import { parseVectorList } from '../base/embed-answer.ts'
import { listTexts } from '../base/embed-input.ts'
import type { OpenAiModel } from '../base/model-list.ts'
import { buildOperationUrl, encodeJsonBody } from '../base/request.ts'
import { createErrorParser } from '../base/vendor-error.ts'
import { type EmbedQuirks, openAiEmbed } from '../openai/embed.ts'

/**
 * The backend is usually Text Embeddings Inference, which accepts 32 items by default. See
 * https://huggingface.co/docs/text-embeddings-inference/cli_arguments
 */
const quirks: EmbedQuirks = { limits: { items: 32 } }

/**
 * Embeddings of Hugging Face. By default they use the router's task API, which has the model in its path.
 * A configured `base_url` names a dedicated endpoint, which speaks the OpenAI format.
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

/**
 * Lists the names of a model with the part that chooses who serves it.
 * https://huggingface.co/docs/inference-providers/index
 */
export function listHuggingFaceNames({ id, providers }: OpenAiModel): readonly string[] {
  const hosts = z
    .array(z.looseObject({ provider: z.string() }))
    .catch([])
    .parse(providers)
  const suffixes = ['fastest', 'cheapest', 'preferred', ...hosts.map(({ provider }) => provider)]
  return suffixes.map((suffix) => `${id}:${suffix}`)
}
