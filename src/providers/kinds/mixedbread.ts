import type { ProviderKind } from '../../core/provider.ts'
import { operationUrl } from '../dialects/address.ts'
import { bearer } from '../dialects/credentials.ts'
import { openAiEmbed } from '../dialects/openai/embed.ts'
import { mixedbreadRerank } from '../dialects/rerank/mixedbread.ts'

/** Mixedbread. */
export const mixedbread: ProviderKind = Object.freeze({
  name: 'mixedbread',
  capabilities: ['embed', 'rerank'],
  defaultBaseUrl: 'https://api.mixedbread.com/v1',
  remoteImages: false,
  authorizer: bearer,
  embed: ({ baseUrl, upstreamId }) =>
    openAiEmbed({
      url: operationUrl(baseUrl, '/v1', '/embeddings'),
      upstreamId,
      limits: { items: 256 },
    }),
  rerank: mixedbreadRerank,
} satisfies ProviderKind)
