import type { ChatCall } from '../../core/chat.ts'
import type { ChatEndpoint } from '../../core/endpoints.ts'
import type {
  Authorizer,
  CredentialContext,
  DialectTarget,
  ProviderKind,
} from '../../core/provider-kind.ts'
import { runAtOnce } from '../../core/steps.ts'
import { unixSeconds } from '../../core/unix-seconds.ts'
import { estimateTranslatedOutput } from '../base/output-bound.ts'
import { encodeJsonBody } from '../base/request.ts'
import { claudeForm } from '../base/request-form.ts'
import { createErrorParser } from '../base/vendor-error.ts'
import { memoizePerCall } from '../canonical/per-call.ts'
import { findClaudeModel } from '../claude/models.ts'
import { type AnswerContext, parseAnthropicAnswer } from './answer.ts'
import { writeMessageEvents } from './answer-events.ts'
import { messagesMarker } from './auto-marks.ts'
import { anthropicModels } from './list.ts'
import { apiVersion, bindMessages } from './native.ts'
import { readNames, toAnthropicRequest } from './request.ts'
import { AnthropicStream } from './stream.ts'
import { buildMessagesUrl } from './url.ts'

/** The Messages API of Anthropic and of compatible servers. */
export const anthropic: ProviderKind = Object.freeze({
  name: 'anthropic',
  capabilities: ['chat'],
  defaultBaseUrl: 'https://api.anthropic.com',
  canFetchImages: true,
  references: 'anthropic',
  writesCache: 'when-marked',
  // Compatible servers and deployments have ids of their own.
  findMarker: () => messagesMarker,
  models: anthropicModels,
  createAuthorizer,
  chat: anthropicChat,
  native: {
    messages: ({ baseUrl, upstreamId }) =>
      bindMessages({ url: buildMessagesUrl(baseUrl), upstreamId }),
  },
} satisfies ProviderKind)

function anthropicChat(target: DialectTarget): ChatEndpoint {
  const { baseUrl, upstreamId, modelId, maxOutputTokens, clock } = target
  const url = buildMessagesUrl(baseUrl)
  const model = findClaudeModel(upstreamId)
  const translate = memoizePerCall((call) =>
    toAnthropicRequest(call, { upstreamId, model, maxOutputTokens }),
  )
  // Without the call itself: a stream would keep the request body in memory until it ends.
  const toContext = (call: ChatCall): AnswerContext => ({
    modelId,
    created: unixSeconds(clock),
    names: readNames(call),
  })
  return {
    translateInSteps: translate.inSteps,
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
      estimateTranslatedOutput(call, { sentBound: translate(call).maxTokens, maxOutputTokens }),
    parseAnswer: (body, call) => runAtOnce(parseAnthropicAnswer(body, toContext(call))),
    parseAnswerInSteps: (body, call) => parseAnthropicAnswer(body, toContext(call)),
    createDecoder: (call) => new AnthropicStream(toContext(call)),
    writeEvents: writeMessageEvents,
    parseError: createErrorParser(),
    streamEnd: 'terminator',
    form: claudeForm,
    writesAnswers: true,
  }
}

/** Sends an API key as `x-api-key`. OAuth tokens must be bearer tokens and need a beta feature. */
function createAuthorizer({ secret }: CredentialContext): Authorizer {
  if (!secret.startsWith('sk-ant-oat')) {
    const headers = Object.freeze({ 'x-api-key': secret })
    return () => headers
  }
  return ({ headers: { 'anthropic-beta': betas } }) => ({
    authorization: `Bearer ${secret}`,
    'anthropic-beta': [...(betas === undefined ? [] : [betas]), 'oauth-2025-04-20'].join(','),
  })
}
