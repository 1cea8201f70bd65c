import type { ChatEndpoint, Target } from '../../../core/provider.ts'
import { jsonBody } from '../json-body.ts'
import { oncePerCall } from '../once-per-call.ts'
import { readRequest } from '../openai/request.ts'
import { heldTo, translatedDemand } from '../output-bound.ts'
import { geminiAnswer } from './gemini-answer.ts'
import { geminiRefusal } from './gemini-error.ts'
import { geminiModel } from './gemini-model.ts'
import { type GeminiDialect, geminiRequest } from './gemini-request.ts'
import { GeminiStream } from './gemini-stream.ts'

export interface GeminiChatOptions {
  readonly target: Target
  /** The address of the model, to which `:generateContent` is added. Its query is kept. */
  readonly modelUrl: URL
  readonly dialect: GeminiDialect
}

/** Chat with a Gemini model, on whichever of Google's services. */
export function geminiChat({ target, modelUrl, dialect }: GeminiChatOptions): ChatEndpoint {
  const { upstreamId, maxOutputTokens: most, passesAddresses } = target
  const addressee = { model: geminiModel(upstreamId), dialect, most, passesAddresses }
  const wholeUrl = methodUrl(modelUrl, 'generateContent')
  const streamUrl = methodUrl(modelUrl, 'streamGenerateContent')
  // Without it a stream comes as one JSON list.
  streamUrl.searchParams.set('alt', 'sse')
  const translate = oncePerCall((call) => geminiRequest(readRequest(call), addressee))
  return {
    unsupported: (call) => translate(call).dropped,
    request: (call) => ({
      url: (call.stream ? streamUrl : wholeUrl).href,
      headers: {},
      body: jsonBody(translate(call).body),
    }),
    outputDemand(call) {
      const { maxTokens, n = 1 } = readRequest(call)
      const choices = addressee.model.takesCandidateCount ? n : 1
      return translatedDemand(call, { sent: heldTo(most, maxTokens), most, choices })
    },
    answer: (body) => geminiAnswer(body, target),
    frames: () => new GeminiStream(target),
    refusal: geminiRefusal,
    doneOptional: false,
  }
}

function methodUrl(modelUrl: URL, method: string): URL {
  const url = new URL(modelUrl)
  url.pathname += `:${method}`
  return url
}
