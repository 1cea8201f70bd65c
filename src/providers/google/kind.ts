import type { ProviderKind } from '../../core/provider.ts'
import { keyHeader } from '../shared/credentials.ts'
import { geminiChat } from './chat.ts'
import { geminiEmbed } from './embed.ts'
import type { GeminiDialect } from './request.ts'

/** The Gemini API, with a key of Google AI Studio. */
export const google: ProviderKind = Object.freeze({
  name: 'google',
  aliases: ['gemini'],
  capabilities: ['chat', 'embed'],
  defaultBaseUrl: 'https://generativelanguage.googleapis.com',
  remoteImages: false,
  ownSettings: ['remote_images'],
  references: 'google',
  // Not `?key=`, which would end up in logs.
  authorizer: keyHeader('x-goog-api-key'),
  chat: (target) =>
    geminiChat({ target, modelUrl: googleModelUrl(target.baseUrl, target.upstreamId), dialect }),
  embed: ({ baseUrl, upstreamId }) => geminiEmbed(googleModelUrl(baseUrl, upstreamId)),
} satisfies ProviderKind)

const dialect: GeminiDialect = Object.freeze({
  penalties: 'old-models',
  takesServiceTier: true,
  fewestLogprobs: 0,
})

/**
 * The address of a model. A version at the end of the configured path stands, else `v1beta` is
 * added, as newer fields are missing from `v1`; any other path is that of a proxy, and is kept.
 */
function googleModelUrl(baseUrl: string, upstreamId: string): URL {
  const url = new URL(baseUrl)
  const path = url.pathname.replace(/\/+$/, '')
  const root = /\/v1(?:alpha|beta)?$/.test(path) ? path : `${path}/v1beta`
  const model = /^(?:models|tunedModels)\//.test(upstreamId) ? upstreamId : `models/${upstreamId}`
  url.pathname = `${root}/${model}`
  url.hash = ''
  return url
}
