import type { ProviderKind } from '../../core/provider.ts'
import { parseDataUri } from '../../wire/data-uri.ts'
import { operationUrl } from '../dialects/address.ts'
import { bearer } from '../dialects/credentials.ts'
import type { MixedDialect } from '../dialects/embed/body.ts'
import { checkSingleModality, singleModality } from '../dialects/embed/mixed.ts'
import { openAiEmbed } from '../dialects/openai/embed.ts'
import { resultsRerank } from '../dialects/rerank/results.ts'

/** Jina AI. */
export const jina: ProviderKind = Object.freeze({
  name: 'jina',
  capabilities: ['embed', 'rerank'],
  defaultBaseUrl: 'https://api.jina.ai/v1',
  remoteImages: false,
  authorizer: bearer,
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
