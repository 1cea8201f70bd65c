import type { ProviderKind } from '../../core/provider.ts'
import { bearer } from '../shared/credentials.ts'
import { cohereChat } from './chat.ts'
import { cohereEmbed } from './embed.ts'
import { cohereRerank } from './rerank.ts'

/** Cohere's API v2, at the vendor or in a private deployment. */
export const cohere: ProviderKind = Object.freeze({
  name: 'cohere',
  capabilities: ['chat', 'embed', 'rerank'],
  defaultBaseUrl: 'https://api.cohere.com',
  remoteImages: true,
  authorizer: bearer,
  chat: cohereChat,
  embed: cohereEmbed,
  rerank: cohereRerank,
} satisfies ProviderKind)
