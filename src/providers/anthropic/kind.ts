import type {
  Authorizer,
  ChatEndpoint,
  CredentialContext,
  DialectTarget,
  ProviderKind,
} from '../../core/provider.ts'
import { unixSeconds } from '../../core/unix-seconds.ts'
import { memoizePerCall } from '../canonical/request.ts'
import { claudeModel } from '../claude/models.ts'
import { estimateTranslatedOutput } from '../shared/output-bound.ts'
import { encodeJsonBody } from '../shared/request.ts'
import { createErrorParser } from '../shared/vendor-error.ts'
import { readAnthropicAnswer } from './answer.ts'
import { anthropicRequest } from './request.ts'
import { AnthropicFrames } from './stream.ts'

/** The Messages API of Anthropic, and of servers that are compatible with it. */
export const anthropic: ProviderKind = Object.freeze({
  name: 'anthropic',
  capabilities: ['chat'],
  defaultBaseUrl: 'https://api.anthropic.com',
  canFetchImages: true,
  references: 'anthropic',
  createAuthorizer: authorizer,
  chat: anthropicChat,
} satisfies ProviderKind)

/**
 * Pinned: the version after it refuses `temperature`, `top_p` and `top_k` on every model, and
 * clients of the OpenAI API send them all the time.
 */
const apiVersion = '2023-06-01'

function anthropicChat(target: DialectTarget): ChatEndpoint {
  const { baseUrl, upstreamId, modelId, maxOutputTokens: most, clock } = target
  const url = messagesUrl(baseUrl)
  const model = claudeModel(upstreamId)
  const translate = memoizePerCall((call) => anthropicRequest(call, { upstreamId, model, most }))
  const created = () => unixSeconds(clock)
  return {
    listUnsupported: (call) => translate(call).dropped,
    buildRequest(call) {
      const { body, betas } = translate(call)
      return {
        url,
        headers: {
          'anthropic-version': apiVersion,
          ...(betas.length > 0 && { 'anthropic-beta': betas.join(',') }),
        },
        body: encodeJsonBody(body),
      }
    },
    estimateOutput: (call) =>
      estimateTranslatedOutput(call, {
        sentBound: translate(call).maxTokens,
        maxOutputTokens: most,
      }),
    parseAnswer: (bytes) => readAnthropicAnswer(bytes, { modelId, created: created() }),
    createDecoder: () => new AnthropicFrames({ modelId, created: created() }),
    parseError: createErrorParser(),
    isDoneOptional: false,
  }
}

/** `base_url` may hold the version path, as some SDKs want it, or not; a pasted full address works too. */
function messagesUrl(base: string): string {
  const url = new URL(base)
  const path = url.pathname.replace(/\/+$/, '').replace(/\/messages$/, '')
  url.pathname = path.endsWith('/v1') ? `${path}/messages` : `${path}/v1/messages`
  url.hash = ''
  return url.href
}

/** The key in the vendor's own header. OAuth tokens only work as bearer tokens, and by a beta feature. */
function authorizer({ secret }: CredentialContext): Authorizer {
  if (!secret.startsWith('sk-ant-oat')) {
    const headers = Object.freeze({ 'x-api-key': secret })
    return () => headers
  }
  return ({ headers: { 'anthropic-beta': betas } }) => ({
    authorization: `Bearer ${secret}`,
    'anthropic-beta': [...(betas === undefined ? [] : [betas]), 'oauth-2025-04-20'].join(','),
  })
}
