import type { ChatEndpoint } from '../../core/endpoints.ts'
import type { DialectTarget, ProviderKind } from '../../core/provider-kind.ts'
import { geminiChat } from '../google/chat.ts'
import type { GeminiDialect } from '../google/request.ts'
import { googleCloudAuthorizer } from './auth/cloud.ts'
import { googleAuthorizer } from './auth/credentials.ts'
import { findSecretProblem, noCredential } from './auth/secret.ts'
import { vertexEmbed } from './embed.ts'
import { vertexModels } from './list.ts'
import { bindVertex } from './native.ts'
import { vertexModelUrl, vertexProbe } from './url.ts'

/**
 * Gemini models on Vertex AI: the dialect of the Gemini API, with Google Cloud's addresses and
 * credentials. https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference
 */
export const vertexAi: ProviderKind = Object.freeze({
  name: 'vertex_ai',
  vendorName: 'gcp.vertex_ai',
  acceptsRegion: true,
  capabilities: ['chat', 'embed'],
  canFetchImages: false,
  cloud: 'google',
  ownSettings: ['remote_images'],
  references: 'google',
  writesCache: 'never',
  createAuthorizer: googleAuthorizer,
  createCloudAuthorizer: googleCloudAuthorizer,
  checkSecret: findSecretProblem,
  probe: vertexProbe,
  chat: vertexChat,
  native: { gemini: bindVertex },
  embed: vertexEmbed,
  models: vertexModels,
} satisfies ProviderKind)

const dialect: GeminiDialect = Object.freeze({
  // Vertex AI answers 400 to a file reference without a media type.
  defaultMimeType: 'image/jpeg',
  penalties: 'every-model',
  // `v1` has no field for the service tier.
  takesServiceTier: false,
  takesLabels: true,
  marksOwnCalls: false,
  minTopLogprobs: 1,
})

function vertexChat(target: DialectTarget): ChatEndpoint {
  const modelUrl = vertexModelUrl(target)
  if (modelUrl instanceof URL) return geminiChat({ target, modelUrl, dialect })
  // Without a project or location, only the requests to this provider fail, not the configuration.
  const placeholder = new URL('https://aiplatform.googleapis.com')
  return {
    ...geminiChat({ target, modelUrl: placeholder, dialect }),
    buildRequest() {
      throw noCredential(modelUrl.problem)
    },
  }
}
