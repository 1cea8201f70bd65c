import type { ChatEndpoint, DialectTarget, ProviderKind } from '../../core/provider.ts'
import { geminiChat } from '../google/chat.ts'
import type { GeminiDialect } from '../google/request.ts'
import { googleAuthorizer } from './auth/credentials.ts'
import { findSecretProblem, noCredential } from './auth/secret.ts'
import { vertexEmbed } from './embed.ts'
import { vertexModelUrl, vertexProbe } from './url.ts'

/** Gemini models on Google Cloud: the dialect of the Gemini API at another address, for another credential. */
export const vertexAi: ProviderKind = Object.freeze({
  name: 'vertex_ai',
  acceptsRegion: true,
  capabilities: ['chat', 'embed'],
  canFetchImages: false,
  ownSettings: ['remote_images'],
  references: 'google',
  createAuthorizer: googleAuthorizer,
  checkSecret: findSecretProblem,
  probe: vertexProbe,
  chat: vertexChat,
  embed: vertexEmbed,
} satisfies ProviderKind)

const dialect: GeminiDialect = Object.freeze({
  // A reference without a media type is a 400 here.
  defaultMimeType: 'image/jpeg',
  penalties: 'every-model',
  // `v1` has no field for it.
  takesServiceTier: false,
  minTopLogprobs: 1,
})

function vertexChat(target: DialectTarget): ChatEndpoint {
  const modelUrl = vertexModelUrl(target)
  if (modelUrl instanceof URL) return geminiChat({ target, modelUrl, dialect })
  // A provider without a place fails the requests that come to it, and no other.
  const nowhere = new URL('https://aiplatform.googleapis.com')
  return {
    ...geminiChat({ target, modelUrl: nowhere, dialect }),
    buildRequest() {
      throw noCredential(modelUrl.problem)
    },
  }
}
