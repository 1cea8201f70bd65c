import type { ProviderKind } from '../../core/provider.ts'
import { bearer } from '../dialects/credentials.ts'
import { voyageEmbed } from '../dialects/embed/voyage.ts'
import { voyageRerank } from '../dialects/rerank/voyage.ts'

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
