import * as z from 'zod'
import { vectorValue } from '../../core/embeddings.ts'
import type { DialectTarget, EmbedEndpoint } from '../../core/provider.ts'
import { toEmbedFailure, toEmbedResult } from '../shared/embed-answer.ts'
import { listTexts } from '../shared/embed-input.ts'
import { encodeJsonBody, getBasePath } from '../shared/request.ts'
import { createErrorParser } from '../shared/vendor-error.ts'

/** Embeddings of Ollama's own API, which counts tokens and does not truncate in silence. */
export function ollamaEmbed({ baseUrl, upstreamId }: DialectTarget): EmbedEndpoint {
  const url = buildOllamaUrl(baseUrl)
  return {
    // There is no limit but patience: one slow call holds the connection.
    getLimits: () => ({ items: 256 }),
    supportsTokenIds: false,
    supportsImages: false,
    supportsDimensions: false,
    buildRequest: ({ input }) => ({
      url,
      headers: {},
      body: encodeJsonBody({ model: upstreamId, input: listTexts(input) }),
    }),
    parseAnswer(body) {
      const parsed = ollamaAnswer.safeParse(body)
      if (!parsed.success) return toEmbedFailure(body)
      return toEmbedResult(parsed.data.embeddings, parsed.data.prompt_eval_count)
    },
    parseError: createErrorParser(),
  }
}

const ollamaAnswer = z.looseObject({
  embeddings: z.array(vectorValue),
  prompt_eval_count: z.unknown().optional(),
})

/** `base_url` mostly names the OpenAI layer, which stands beside the server's own API. */
function buildOllamaUrl(baseUrl: string): string {
  const url = new URL(baseUrl)
  url.pathname = `${getBasePath(url).replace(/\/(?:v1|api(?:\/embed)?)$/, '')}/api/embed`
  url.hash = ''
  return url.href
}
