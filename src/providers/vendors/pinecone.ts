import type { ProviderKind } from '../../core/provider.ts'
import { keyHeader } from '../shared/credentials.ts'
import { pineconeRerank } from './pinecone-rerank.ts'

/** Pinecone's inference API. */
export const pinecone: ProviderKind = Object.freeze({
  name: 'pinecone',
  capabilities: ['rerank'],
  defaultBaseUrl: 'https://api.pinecone.io',
  remoteImages: false,
  authorizer: keyHeader('api-key'),
  rerank: pineconeRerank,
} satisfies ProviderKind)
