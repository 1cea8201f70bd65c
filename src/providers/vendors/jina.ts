import type { ProviderKind } from '../../core/provider.ts'
import { parseDataUri } from '../../wire/data-uri.ts'
import { openAiEmbed } from '../openai/embed.ts'
import { bearer } from '../shared/credentials.ts'
import type { MixedDialect } from '../shared/embed-input.ts'
import { checkSingleModality, singleModality } from '../shared/embed-modality.ts'
import { resultsRerank } from '../shared/rerank-results.ts'
import { operationUrl } from '../shared/url.ts'

/** Jina AI. */
export const jina: ProviderKind = Object.freeze({
  name: 'jina',
  capabilities: ['embed', 'rerank'],
  defaultBaseUrl: 'https://api.jina.ai/v1',
  canFetchImages: false,
  createAuthorizer: bearer,
  embed: ({ baseUrl, upstreamId }) =>
    openAiEmbed({
      url: operationUrl(baseUrl, '/v1', '/embeddings'),
      upstreamId,
      limits: { items: 512 },
      takesTokens: false,
      mixed: objects,
      countsTotal: true,
    }),
  rerank: ({ baseUrl, upstreamId }) =>
    resultsRerank({
      url: operationUrl(baseUrl, '/v1', '/rerank'),
      upstreamId,
      echoes: true,
      countsTokens: true,
    }),
} satisfies ProviderKind)

/** Beside an image every text is an object too, and images are payloads without the URI around. */
const objects: MixedDialect = Object.freeze({
  check: checkSingleModality,
  members: ({ items }) => ({
    input: items.map((item) => {
      const single = singleModality(item)
      return 'image' in single ? { image: parseDataUri(single.image)?.payload } : single
    }),
  }),
} satisfies MixedDialect)
