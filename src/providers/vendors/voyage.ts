import type { ProviderKind } from '../../core/provider.ts'
import { bearer } from '../shared/credentials.ts'
import { voyageEmbed } from './voyage-embed.ts'
import { voyageRerank } from './voyage-rerank.ts'

/** Voyage AI. */
export const voyage: ProviderKind = Object.freeze({
  name: 'voyage',
  capabilities: ['embed', 'rerank'],
  defaultBaseUrl: 'https://api.voyageai.com/v1',
  remoteImages: false,
  authorizer: bearer,
  embed: voyageEmbed,
  rerank: voyageRerank,
} satisfies ProviderKind)
