import type { ChatCall } from '../../core/chat.ts'
import type { ChatEndpoint, HeaderReader } from '../../core/endpoints.ts'
import type { DialectTarget } from '../../core/provider-kind.ts'
import { runAtOnce } from '../../core/steps.ts'
import { clampBound, estimateTranslatedOutput } from '../base/output-bound.ts'
import { encodeJsonBody } from '../base/request.ts'
import { translatedForm } from '../base/request-form.ts'
import { bindToolNames } from '../canonical/named-request.ts'
import { memoizePerCall } from '../canonical/per-call.ts'
import { readRequest } from '../canonical/request.ts'
import { parseAnswer } from './answer.ts'
import { readChunkList } from './chunk-list.ts'
import { parseError } from './errors.ts'
import { writeAnswerEvent } from './events.ts'
import { geminiModel } from './models.ts'
import { type GeminiDialect, toGeminiRequest } from './request.ts'
import type { AnswerContext } from './response.ts'
import { GeminiStream } from './stream.ts'
import { methodUrl } from './url.ts'

export interface GeminiChatOptions {
  readonly target: DialectTarget
  /** The address of the model. `:generateContent` is appended to its path; its query is kept. */
  readonly modelUrl: URL
  readonly dialect: GeminiDialect
}

/** The names that the API accepts: https://ai.google.dev/api/caching#FunctionDeclaration */
const { read: readNamed, readNames } = bindToolNames(/^[a-zA-Z_][a-zA-Z0-9_:.-]{0,63}$/)

/** Chat with a Gemini model, on the Gemini API or on Vertex AI. */
export function geminiChat({ target, modelUrl, dialect }: GeminiChatOptions): ChatEndpoint {
  const { upstreamId, maxOutputTokens, forwardsMediaUrls } = target
  const model = geminiModel(upstreamId)
  const geminiTarget = {
    model,
    dialect,
    maxOutputTokens,
    forwardsMediaUrls,
  }
  const answerUrl = methodUrl(modelUrl, 'generateContent')
  const streamUrl = methodUrl(modelUrl, 'streamGenerateContent')
  // Without `alt=sse` the stream is one JSON list instead of server-sent events.
  streamUrl.searchParams.set('alt', 'sse')
  const translate = memoizePerCall(function* (call) {
    const { request } = yield* readNamed.inSteps(call)
    return yield* toGeminiRequest(request, geminiTarget)
  })
  // Without the call itself: a stream would keep the request body in memory until it ends.
  const toContext = (call: ChatCall, header: HeaderReader): AnswerContext => ({
    target,
    model,
    header,
    names: readNames(call),
  })
  return {
    translateInSteps: translate.inSteps,
    listUnsupported: (call) => translate(call).dropped,
    buildRequest: (call) => ({
      url: (call.stream ? streamUrl : answerUrl).href,
      headers: {},
      body: encodeJsonBody(translate(call).body),
    }),
    estimateOutput(call) {
      const { maxTokens, n = 1 } = readRequest(call)
      const choices = geminiTarget.model.takesCandidateCount ? n : 1
      return estimateTranslatedOutput(call, {
        sentBound: clampBound(maxOutputTokens, maxTokens),
        maxOutputTokens,
        choices,
      })
    },
    parseAnswer: (body, call, header) => runAtOnce(parseAnswer(body, toContext(call, header))),
    parseAnswerInSteps: (body, call, header) => parseAnswer(body, toContext(call, header)),
    createDecoder: (call, header) => new GeminiStream(toContext(call, header)),
    writeEvents: writeAnswerEvent,
    readList: readChunkList,
    parseError,
    streamEnd: 'terminator',
    form: {
      ...translatedForm,
      takesResultMedia: geminiTarget.model.takesMediaInToolResults,
      takesResultErrors: true,
    },
    writesAnswers: true,
  }
}
