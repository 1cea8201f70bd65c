import type { ChatEndpoint, Target } from '../../../core/provider.ts'
import { unixSeconds } from '../../../core/unix-seconds.ts'
import { readRequest } from '../openai/request.ts'
import { heldTo, translatedDemand } from '../output-bound.ts'
import { readCohereAnswer } from './answer.ts'
import { cohereRefusal, cohereUrl } from './api.ts'
import { cohereBody, unsupportedByCohere } from './request.ts'
import { cohereFrames } from './stream.ts'

const encoder = new TextEncoder()

/** Chat in the schema of Cohere's API v2. */
export function cohereChat(target: Target): ChatEndpoint {
  const { baseUrl, upstreamId, modelId, maxOutputTokens: most, clock } = target
  const url = cohereUrl(baseUrl, 'chat')
  const now = () => unixSeconds(clock)
  return {
    unsupported: unsupportedByCohere,
    request: (call) => ({
      url,
      headers: {},
      body: encoder.encode(JSON.stringify(cohereBody(call, { upstreamId, most }))),
    }),
    outputDemand: (call) =>
      translatedDemand(call, { sent: heldTo(most, readRequest(call).maxTokens), most }),
    answer: (body, call) => readCohereAnswer(body, { call, model: modelId, created: now() }),
    frames: (call) => cohereFrames({ call, model: modelId, created: now() }),
    refusal: cohereRefusal(clock),
    doneOptional: false,
  }
}
