import type { ChatCall } from '../../core/chat.ts'
import { type CanonicalRequest, readRequest } from '../canonical/request.ts'
import { clampBound } from '../shared/output-bound.ts'
import { filterUnsupported } from '../translation/filter-unsupported.ts'
import { toCohereMessages } from './messages.ts'
import { toToolFields } from './tools.ts'

/*
 * Unknown fields are a 400 on some deployments, so a body is built up from what the vendor's
 * OpenAPI document lists; nothing of the client's is copied through.
 */

/** Whom a request is for. */
export interface CohereTarget {
  readonly upstreamId: string
  /** The configured bound of the model. */
  readonly maxOutputTokens: number | undefined
}

/** A request in the words of `POST /v2/chat`. */
export interface Translation {
  readonly body: object
  /** The paths of everything that was left out although it asks for something. */
  readonly dropped: readonly string[]
}

/** Translates a request. Throws `UntranslatableError` when it has no form here. */
export function toCohereRequest(call: ChatCall, addressee: CohereTarget): Translation {
  const { request, dropped } = filterUnsupported(readRequest(call), 'cohere', {})
  return { body: toBody(request, call, addressee), dropped }
}

function toBody(
  request: CanonicalRequest,
  call: ChatCall,
  { upstreamId, maxOutputTokens }: CohereTarget,
): object {
  return {
    model: upstreamId,
    messages: toCohereMessages(request.messages),
    // The schema requires it, streamed or not.
    stream: call.stream,
    ...toToolFields(request),
    ...toFormatFields(request),
    ...toSamplingFields(request, maxOutputTokens),
    ...toThinkingFields(request),
  }
}

function toFormatFields({ responseFormat: format }: CanonicalRequest): object {
  if (format.kind === 'text') return {}
  const schema = format.kind === 'json_schema' ? format.schema : undefined
  return { response_format: { type: 'json_object', ...(schema && { json_schema: schema }) } }
}

function toSamplingFields(request: CanonicalRequest, maxOutputTokens: number | undefined): object {
  const { temperature, topP, topK, seed, logprobs, stop } = request
  const { frequencyPenalty, presencePenalty } = request
  const maxTokens = clampBound(maxOutputTokens, request.maxTokens)
  return {
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
    // Above 1 the vendor answers 400, which tells the client more than a value in its place would.
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && topP !== 1 && { p: Math.min(Math.max(topP, 0.01), 0.99) }),
    ...(topK !== undefined && { k: topK }),
    ...(stop.length > 0 && { stop_sequences: stop }),
    ...(seed !== undefined && { seed }),
    ...(frequencyPenalty && { frequency_penalty: frequencyPenalty }),
    ...(presencePenalty && { presence_penalty: presencePenalty }),
    ...(logprobs && { logprobs }),
  }
}

function toThinkingFields({ reasoningEffort }: CanonicalRequest): object {
  // The vendor's own OpenAI layer takes `none` and `high`, and no other value.
  if (reasoningEffort === undefined) return {}
  return { thinking: { type: reasoningEffort === 'none' ? 'disabled' : 'enabled' } }
}
