import type { ChatCall } from '../../core/chat.ts'
import { clampBound } from '../base/output-bound.ts'
import { type CanonicalRequest, readRequest } from '../canonical/request.ts'
import { filterUnsupported } from '../translation/filter-unsupported.ts'
import { toCohereMessages } from './messages.ts'
import { readOwnFields } from './own-fields.ts'
import { toToolFields } from './tools.ts'

/*
 * Some deployments answer 400 to unknown fields. The body therefore has only fields of the vendor's
 * OpenAPI document, and of the client's objects only those in the vendor's own fields.
 */

/** The model that a request is translated for. */
export interface CohereTarget {
  readonly upstreamId: string
  /** The configured output limit of the model, in tokens. */
  readonly maxOutputTokens: number | undefined
}

/** A request to `POST /v2/chat`: https://docs.cohere.com/reference/chat */
export interface Translation {
  readonly body: object
  /** The paths of all fields that were dropped because Cohere has no counterpart. */
  readonly dropped: readonly string[]
}

/** Translates a request. Throws `UntranslatableError` when Cohere cannot express it. */
export function toCohereRequest(call: ChatCall, target: CohereTarget): Translation {
  const { request, dropped } = filterUnsupported(readRequest(call), 'cohere', {})
  return { body: toBody(request, call, target), dropped }
}

function toBody(
  request: CanonicalRequest,
  call: ChatCall,
  { upstreamId, maxOutputTokens }: CohereTarget,
): object {
  const own = readOwnFields(request)
  // Members that are undefined do not reach the wire.
  return {
    model: upstreamId,
    messages: toCohereMessages(request.messages),
    // Cohere requires the field in either case.
    stream: call.stream,
    ...toToolFields(request),
    ...toFormatFields(request),
    ...toSamplingFields(request, maxOutputTokens),
    ...toThinkingFields(request),
    documents: own.documents ?? undefined,
    citation_options: own.citation_options ?? undefined,
    safety_mode: own.safety_mode ?? undefined,
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
    // Not reduced: Cohere answers 400 above 1, which is clearer for the client than another value.
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
  // The vendor's own OpenAI-compatible API accepts only `none` and `high`.
  if (reasoningEffort === undefined) return {}
  return { thinking: { type: reasoningEffort === 'none' ? 'disabled' : 'enabled' } }
}
