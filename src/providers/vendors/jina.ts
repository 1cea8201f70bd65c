import type { ProviderKind } from '../../core/provider.ts'
import { parseDataUri } from '../../wire/data-uri.ts'
import { openAiEmbed } from '../openai/embed.ts'
import { authorizeWithBearer } from '../shared/credentials.ts'
import type { MixedDialect } from '../shared/embed-input.ts'
import { checkSingleModality, toTextOrImage } from '../shared/embed-modality.ts'
import { buildOperationUrl } from '../shared/request.ts'
import { resultsRerank } from '../shared/rerank-results.ts'

/** Jina AI: embeddings and rerank. See https://jina.ai/embeddings/ */
export const jina: ProviderKind = Object.freeze({
  name: 'jina',
  capabilities: ['embed', 'rerank'],
  defaultBaseUrl: 'https://api.jina.ai/v1',
  canFetchImages: false,
  createAuthorizer: authorizeWithBearer,
  embed: ({ baseUrl, upstreamId }) =>
    openAiEmbed({
      url: buildOperationUrl(baseUrl, '/v1', '/embeddings'),
      upstreamId,
      limits: { items: 512 },
      supportsTokenIds: false,
      mixed: inputObjects,
      usesTotalTokens: true,
    }),
  rerank: ({ baseUrl, upstreamId }) =>
    resultsRerank({
      url: buildOperationUrl(baseUrl, '/v1', '/rerank'),
      upstreamId,
      returnsDocuments: true,
      reportsBilledTokens: true,
    }),
} satisfies ProviderKind)

/** In an input with images, texts are objects too. Images are base64 without the data URI prefix. */
const inputObjects: MixedDialect = Object.freeze({
  check: checkSingleModality,
  members: ({ items }) => ({
    input: items.map((item) => {
      const single = toTextOrImage(item)
      return 'image' in single ? { image: parseDataUri(single.image)?.payload } : single
    }),
  }),
} satisfies MixedDialect)
