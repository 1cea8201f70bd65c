import type { ProviderKind } from '../../core/provider-kind.ts'
import { authorizeWithHeader } from '../base/credentials.ts'
import { geminiChat } from './chat.ts'
import { geminiEmbed } from './embed.ts'
import { googleModels } from './list.ts'
import { geminiModel } from './models.ts'
import { bindGemini } from './native.ts'
import { googleBodies } from './native-bodies.ts'
import type { GeminiDialect } from './request.ts'
import { googleModelUrl } from './url.ts'

/** The Gemini API, authenticated by an API key from Google AI Studio. */
export const google: ProviderKind = Object.freeze({
  name: 'google',
  vendorName: 'gcp.gemini',
  aliases: ['gemini'],
  capabilities: ['chat', 'embed'],
  defaultBaseUrl: 'https://generativelanguage.googleapis.com',
  canFetchImages: false,
  ownSettings: ['remote_images'],
  references: 'google',
  writesCache: 'never',
  models: googleModels,
  // Not `?key=`: the query of an address ends up in logs.
  createAuthorizer: authorizeWithHeader('x-goog-api-key'),
  chat: (target) =>
    geminiChat({ target, modelUrl: googleModelUrl(target.baseUrl, target.upstreamId), dialect }),
  native: {
    gemini({ baseUrl, upstreamId }) {
      const modelUrl = googleModelUrl(baseUrl, upstreamId)
      const model = geminiModel(upstreamId)
      return bindGemini({ model, modelUrl, bodies: googleBodies(modelUrl) })
    },
  },
  embed: ({ baseUrl, upstreamId }) => geminiEmbed(googleModelUrl(baseUrl, upstreamId)),
} satisfies ProviderKind)

const dialect: GeminiDialect = Object.freeze({
  penalties: 'old-models',
  takesServiceTier: true,
  takesLabels: false,
  marksOwnCalls: true,
  minTopLogprobs: 0,
})
