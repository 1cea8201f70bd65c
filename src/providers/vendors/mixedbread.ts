import type { ProviderKind } from '../../core/provider.ts'
import { openAiEmbed } from '../openai/embed.ts'
import { bearer } from '../shared/credentials.ts'
import { operationUrl } from '../shared/url.ts'
import { mixedbreadRerank } from './mixedbread-rerank.ts'

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
