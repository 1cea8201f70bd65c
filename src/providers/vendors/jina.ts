import type { ProviderKind } from '../../core/provider-kind.ts'
import { parseDataUri } from '../../wire/data-uri.ts'
import { authorizeWithBearer } from '../base/credentials.ts'
import type { MixedDialect } from '../base/embed-input.ts'
import type { InputTypeWords } from '../base/embed-input-type.ts'
import { checkSingleModality, toTextOrImage } from '../base/embed-modality.ts'
import { buildOperationUrl } from '../base/request.ts'
import { resultsRerank } from '../base/rerank-results.ts'
import { openAiEmbed } from '../openai/embed.ts'

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
      inputType: {
        member: 'task',
        // The third generation has another word for it: https://huggingface.co/jinaai/jina-embeddings-v3
        words: upstreamId.includes('-v3') ? { ...tasks, clustering: 'separation' } : tasks,
      },
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

/** https://jina.ai/models/jina-embeddings-v5-text-small/ */
const tasks: InputTypeWords = Object.freeze({
  search_document: 'retrieval.passage',
  search_query: 'retrieval.query',
  classification: 'classification',
  clustering: 'clustering',
})

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
