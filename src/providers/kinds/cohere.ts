import type { ProviderKind } from '../../core/provider.ts'
import { cohereChat } from '../dialects/cohere/chat.ts'
import { cohereEmbed } from '../dialects/cohere/embed.ts'
import { cohereRerank } from '../dialects/cohere/rerank.ts'
import { bearer } from '../dialects/credentials.ts'

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
