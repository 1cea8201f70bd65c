import type { ChatCall } from '../../../core/chat.ts'
import type { Raw } from '../openai/messages.ts'
import { fieldsInUse } from '../openai/neutral.ts'
import { type OpenAiRequest, readRequest } from '../openai/request.ts'
import type { FunctionTool } from '../openai/tools.ts'
import { heldTo } from '../output-bound.ts'
import { cohereMessages } from './messages.ts'

/*
 * Unknown fields are a 400 on some deployments, so a body is built up from what the vendor's
 * OpenAPI document lists; nothing of the client's is copied through.
 */

/** Whom a request is for. */
export interface CohereAddressee {
  readonly upstreamId: string
  /** The configured bound of the model. */
  readonly most: number | undefined
}

/** A request in the words of `POST /v2/chat`. */
export interface Translation {
  readonly body: object
  /** The paths of everything that was left out although it asks for something. */
  readonly dropped: readonly string[]
}

/** Translates a request. Throws `CannotExpress` when it has no form here. */
export function cohereRequest(call: ChatCall, addressee: CohereAddressee): Translation {
  const request = readRequest(call)
  return { body: bodyOf(request, call, addressee), dropped: unsupportedFields(request) }
}

function bodyOf(
  request: OpenAiRequest,
  call: ChatCall,
  { upstreamId, most }: CohereAddressee,
): object {
  return {
    model: upstreamId,
    messages: cohereMessages(request.messages),
    // The schema requires it, streamed or not.
    stream: call.stream,
    ...tools(request),
    ...responseFormat(request),
    ...sampling(request, most),
    ...thinking(request),
  }
}

function tools(request: OpenAiRequest): object {
  if (request.tools.length === 0) return {}
  const choice = toolChoice(request)
  return {
    tools: request.tools.map(tool),
    ...(choice && { tool_choice: choice }),
    ...(request.tools.every(({ strict }) => strict) && { strict_tools: true }),
  }
}

function tool({ name, description, parameters }: FunctionTool): object {
  return {
    type: 'function',
    function: {
      name,
      ...(description !== undefined && { description }),
      parameters: isEmpty(parameters) ? noParameters : parameters,
    },
  }
}

function isEmpty(parameters: Raw | undefined): boolean {
  return parameters === undefined || Object.keys(parameters).length === 0
}

/** The field is required, also for a function that takes nothing. */
const noParameters = { type: 'object', properties: {} }

/** There is no way to name a tool, so a forced or allowed one falls back to auto: all are offered. */
function toolChoice({ toolChoice: choice }: OpenAiRequest): 'NONE' | 'REQUIRED' | undefined {
  switch (choice?.kind) {
    case 'none':
      return 'NONE'
    case 'required':
      return 'REQUIRED'
    case 'auto':
    case 'function':
    case 'allowed':
    case 'custom':
    case undefined:
      return undefined
    default:
      return choice satisfies never
  }
}

function responseFormat(request: OpenAiRequest): object {
  const { responseFormat: format } = request
  if (format.kind === 'text' || clashesWithTools(request)) return {}
  const schema = format.kind === 'json_schema' ? format.schema : undefined
  return { response_format: { type: 'json_object', ...(schema && { json_schema: schema }) } }
}

/** The vendor takes no JSON format beside tools. */
function clashesWithTools({ responseFormat: format, tools: offered }: OpenAiRequest): boolean {
  return format.kind !== 'text' && offered.length > 0
}

function sampling(request: OpenAiRequest, most: number | undefined): object {
  const { temperature, topP, topK, seed, logprobs } = request
  const maxTokens = heldTo(most, request.maxTokens)
  const { frequencyPenalty, presencePenalty } = request
  const stops = request.stop.filter((sequence) => sequence !== '')
  return {
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
    // Above 1 the vendor answers 400, which tells the client more than a value in its place would.
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && topP !== 1 && { p: Math.min(Math.max(topP, 0.01), 0.99) }),
    ...(topK !== undefined && { k: topK }),
    ...(stops.length > 0 && { stop_sequences: stops }),
    ...(isSeed(seed) && { seed }),
    ...(isPenalty(frequencyPenalty) && { frequency_penalty: frequencyPenalty }),
    ...(isPenalty(presencePenalty) && { presence_penalty: presencePenalty }),
    ...(logprobs && { logprobs }),
  }
}

function isSeed(seed: number | undefined): boolean {
  return seed !== undefined && seed >= 0
}

function isPenalty(penalty: number | undefined): boolean {
  return penalty !== undefined && penalty > 0 && penalty <= 1
}

function thinking({ reasoningEffort }: OpenAiRequest): object {
  // The vendor's own OpenAI layer takes these two values and no other.
  if (reasoningEffort === 'none') return { thinking: { type: 'disabled' } }
  if (reasoningEffort === 'high') return { thinking: { type: 'enabled' } }
  return {}
}

/** Fields without a counterpart. `user`, `metadata` and their like ask for nothing, and go quietly. */
const withoutCounterpart = [
  'n',
  'top_logprobs',
  'logit_bias',
  'parallel_tool_calls',
  'prediction',
  'audio',
  'modalities',
  'store',
  'verbosity',
  'web_search_options',
]

function unsupportedFields(request: OpenAiRequest): readonly string[] {
  return [
    ...fieldsInUse(request, withoutCounterpart),
    ...request.leftOut,
    ...strictTools(request),
    ...(clashesWithTools(request) ? ['response_format'] : []),
    ...outOfRange(request),
  ]
}

/** `strict_tools` is one switch for all tools, so some of them cannot be strict alone. */
function strictTools({ tools: offered }: OpenAiRequest): string[] {
  const strict = offered.filter((candidate) => candidate.strict)
  if (strict.length === offered.length) return []
  return strict.map(({ path }) => `${path}.function.strict`)
}

function outOfRange(request: OpenAiRequest): string[] {
  const { seed, frequencyPenalty, presencePenalty, reasoningEffort, serviceTier } = request
  const lost = {
    seed: seed !== undefined && !isSeed(seed),
    frequency_penalty: Boolean(frequencyPenalty) && !isPenalty(frequencyPenalty),
    presence_penalty: Boolean(presencePenalty) && !isPenalty(presencePenalty),
    reasoning_effort:
      reasoningEffort !== undefined && reasoningEffort !== 'none' && reasoningEffort !== 'high',
    // There is one tier, so the standard one is no wish.
    service_tier: serviceTier !== undefined && serviceTier !== 'auto' && serviceTier !== 'default',
  }
  return Object.entries(lost).flatMap(([field, isLost]) => (isLost ? [field] : []))
}
