import * as z from 'zod'
import { vectorValue } from '../../core/embeddings.ts'
import type { EmbedEndpoint } from '../../core/endpoints.ts'
import type { DialectTarget } from '../../core/provider-kind.ts'
import { toEmbedFailure, toEmbedResult } from '../base/embed-answer.ts'
import { listTexts } from '../base/embed-input.ts'
import { encodeJsonBody, getBasePath } from '../base/request.ts'
import { createErrorParser } from '../base/vendor-error.ts'

/** Embeddings of Ollama's native API, which counts tokens and does not truncate silently. */
export function ollamaEmbed({ baseUrl, upstreamId }: DialectTarget): EmbedEndpoint {
  const url = buildOllamaUrl(baseUrl)
  return {
    // Ollama has no limit; this one keeps a single call from taking too long.
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

/** `base_url` usually names the OpenAI layer, which is beside the server's native API. */
function buildOllamaUrl(baseUrl: string): string {
  const url = new URL(baseUrl)
  url.pathname = `${getBasePath(url).replace(/\/(?:v1|api(?:\/embed)?)$/, '')}/api/embed`
  url.hash = ''
  return url.href
}
