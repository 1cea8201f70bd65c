import type { ProviderKind } from '../../core/provider.ts'
import { keyHeader } from '../dialects/credentials.ts'
import { pineconeRerank } from '../dialects/rerank/pinecone.ts'

/** Pinecone's inference API. */
export const pinecone: ProviderKind = Object.freeze({
  name: 'pinecone',
  capabilities: ['rerank'],
  defaultBaseUrl: 'https://api.pinecone.io',
  remoteImages: false,
  authorizer: keyHeader('api-key'),
  rerank: pineconeRerank,
} satisfies ProviderKind)
