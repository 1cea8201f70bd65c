import type { EmbedEndpoint, Target } from '../../../core/provider.ts'
import { operationUrl } from '../address.ts'
import { jsonBody } from '../json-body.ts'
import { type EmbedHabits, openAiEmbed } from '../openai/embed.ts'
import { refusalBy } from '../refusal.ts'
import { textsOf } from './body.ts'
import { readBareVectors } from './reading.ts'

/** What stands behind it is mostly Text Embeddings Inference, which takes 32 by default. */
const habits: EmbedHabits = { limits: { items: 32 } }

/**
 * Embeddings of Hugging Face: the task API of the router, which has the model in its path. An address
 * of the user's own is a dedicated endpoint, and speaks the OpenAI format.
 */
export function huggingFaceEmbed({ baseUrl, hasOwnBaseUrl, upstreamId }: Target): EmbedEndpoint {
  if (hasOwnBaseUrl) {
    return openAiEmbed({ ...habits, url: operationUrl(baseUrl, '/v1', '/embeddings'), upstreamId })
  }
  const model = upstreamId.split('/').map(encodeURIComponent).join('/')
  return {
    limits: () => habits.limits,
    takesTokens: false,
    takesImages: false,
    takesDimensions: true,
    request: ({ input, dimensions }) => ({
      url: `https://router.huggingface.co/hf-inference/models/${model}/pipeline/feature-extraction`,
      headers: {},
      body: jsonBody({ inputs: textsOf(input), dimensions }),
    }),
    answer: (body) => readBareVectors(body, undefined),
    refusal: refusalBy(),
  }
}
