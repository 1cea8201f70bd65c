import type { ChatCall } from '../../core/chat.ts'
import type { ChatEndpoint } from '../../core/endpoints.ts'
import type { DialectTarget, ProviderKind } from '../../core/provider-kind.ts'
import { runAtOnce } from '../../core/steps.ts'
import { unixSeconds } from '../../core/unix-seconds.ts'
import { authorizeWithBearer } from '../base/credentials.ts'
import { clampBound, estimateTranslatedOutput } from '../base/output-bound.ts'
import { encodeJsonBody } from '../base/request.ts'
import { translatedForm } from '../base/request-form.ts'
import { memoizePerCall } from '../canonical/per-call.ts'
import { readRequest } from '../canonical/request.ts'
import { type AnswerContext, parseAnswer } from './answer.ts'
import { writeAnswerEvents } from './answer-events.ts'
import { cohereEmbed, configuredInputTypes } from './embed.ts'
import { cohereErrorParser } from './errors.ts'
import { cohereModels } from './list.ts'
import { readNames, toCohereRequest } from './request.ts'
import { cohereRerank } from './rerank.ts'
import { createCohereDecoder } from './stream.ts'
import { cohereUrl } from './url.ts'

/**
 * Cohere's API v2, at the vendor or in a private deployment.
 * https://docs.cohere.com/reference/about
 */
export const cohere: ProviderKind = Object.freeze({
  name: 'cohere',
  capabilities: ['chat', 'embed', 'rerank'],
  defaultBaseUrl: 'https://api.cohere.com',
  canFetchImages: true,
  writesCache: 'never',
  models: cohereModels,
  listInputTypes: () => configuredInputTypes,
  createAuthorizer: authorizeWithBearer,
  chat: cohereChat,
  embed: cohereEmbed,
  rerank: cohereRerank,
} satisfies ProviderKind)

/** Chat in the schema of Cohere's API v2: https://docs.cohere.com/reference/chat */
function cohereChat(target: DialectTarget): ChatEndpoint {
  const { baseUrl, upstreamId, modelId, maxOutputTokens, clock, takesEffort } = target
  const url = cohereUrl(baseUrl, 'chat')
  const model = { upstreamId, maxOutputTokens, hasReasoning: takesEffort }
  const translate = memoizePerCall((call) => toCohereRequest(call, model))
  // Without the call itself: a stream would keep the request body in memory until it ends.
  const toContext = (call: ChatCall): AnswerContext => ({
    wantsLogprobs: call.wantsLogprobs,
    names: readNames(call),
    model: modelId,
    created: unixSeconds(clock),
  })
  return {
    translateInSteps: translate.inSteps,
    listUnsupported: (call) => translate(call).dropped,
    buildRequest: (call) => ({
      url,
      headers: {},
      body: encodeJsonBody(translate(call).body),
    }),
    estimateOutput: (call) =>
      estimateTranslatedOutput(call, {
        sentBound: clampBound(maxOutputTokens, readRequest(call).maxTokens),
        maxOutputTokens,
      }),
    parseAnswer: (body, call) => runAtOnce(parseAnswer(body, toContext(call))),
    parseAnswerInSteps: (body, call) => parseAnswer(body, toContext(call)),
    createDecoder: (call) => createCohereDecoder(toContext(call)),
    writeEvents: writeAnswerEvents,
    parseError: cohereErrorParser(clock),
    streamEnd: 'terminator',
    form: translatedForm,
    writesAnswers: true,
  }
}
