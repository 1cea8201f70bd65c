import type { ChatCall } from '../../core/chat.ts'
import type { Steps } from '../../core/steps.ts'
import { clampBound } from '../base/output-bound.ts'
import { listLostWish } from '../canonical/lost-wish.ts'
import { bindToolNames } from '../canonical/named-request.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
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
  /** The model reasons, by configuration. */
  readonly hasReasoning: boolean
  /** The configured output limit of the model, in tokens. */
  readonly maxOutputTokens: number | undefined
}

/** A request to `POST /v2/chat`: https://docs.cohere.com/reference/chat */
export interface Translation {
  readonly body: object
  /** The paths of all fields that were dropped because Cohere has no counterpart. */
  readonly dropped: readonly string[]
}

/**
 * The names that the API accepts: https://docs.cohere.com/docs/tool-use-overview. It names no length; 64 is that of
 * the OpenAI API, for which tools are made.
 */
export const { read: readNamed, readNames } = bindToolNames(/^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/)

/** Translates a request. Throws `UntranslatableError` when Cohere cannot express it. */
export function* toCohereRequest(call: ChatCall, target: CohereTarget): Steps<Translation> {
  const { request: original } = yield* readNamed.inSteps(call)
  const { request, dropped } = yield* filterUnsupported(original, 'cohere', {})
  yield
  const lost = canSayWish(original, target) ? [] : listLostWish(original)
  return { body: yield* toBody(request, call, target), dropped: [...dropped, ...lost] }
}

function* toBody(request: CanonicalRequest, call: ChatCall, target: CohereTarget): Steps<object> {
  const { upstreamId, maxOutputTokens } = target
  const own = readOwnFields(request)
  // Members that are undefined do not reach the wire.
  return {
    model: upstreamId,
    messages: yield* toCohereMessages(request.messages),
    // Cohere requires the field in either case.
    stream: call.stream,
    ...toToolFields(request),
    ...toFormatFields(request),
    ...toSamplingFields(request, maxOutputTokens),
    ...toThinkingFields(request, target),
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

function toThinkingFields(request: CanonicalRequest, target: CohereTarget): object {
  const { thinking: wish } = request
  if (wish.kind === 'off') return { thinking: { type: 'disabled' } }
  if (wish.kind === 'unset' || !canSayWish(request, target)) return {}
  if (wish.budget !== undefined) {
    return { thinking: { type: 'enabled', token_budget: Math.max(1, Math.trunc(wish.budget)) } }
  }
  // The vendor's own OpenAI-compatible API accepts only `none` and `high`. Without an effort the model decides.
  return wish.effort === undefined ? {} : { thinking: { type: 'enabled' } }
}

/**
 * Whether a wish can be said: models without reasoning answer 400 to a budget. Clients of other APIs send one
 * with every request, without regard to the model.
 */
function canSayWish(
  { thinking: wish }: CanonicalRequest,
  { upstreamId, hasReasoning }: CohereTarget,
): boolean {
  if (wish.kind === 'unset') return false
  return (
    wish.kind === 'off' ||
    wish.budget === undefined ||
    hasReasoning ||
    upstreamId.includes('reasoning')
  )
}
