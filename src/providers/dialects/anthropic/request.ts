import { z } from 'zod'
import type { ChatCall, ChatRequest } from '../../../core/chat.ts'
import { inexpressibleField, inOurWords } from '../../../core/invalid-field.ts'
import { claudeBound } from '../claude/bound.ts'
import type { ClaudeModel } from '../claude/models.ts'
import { claudeReasoning } from '../claude/reasoning.ts'
import { claudeSchema } from '../claude/schema.ts'
import type { Raw } from '../openai/messages.ts'
import { fieldsInUse } from '../openai/neutral.ts'
import { type OpenAiRequest, readRequest } from '../openai/request.ts'
import { isObject } from '../openai/usage.ts'
import type { Drop } from './blocks.ts'
import { usesStoredFiles } from './media.ts'
import { conversationOf } from './messages.ts'
import { toolFields } from './tools.ts'

/** A request in the words of the Messages API. */
export interface Translation {
  readonly body: Raw
  /** The bound in that body. */
  readonly maxTokens: number | undefined
  /** Features that the `anthropic-beta` header must name. */
  readonly betas: readonly string[]
  /** The paths of everything that was left out or changed because it has no counterpart. */
  readonly dropped: readonly string[]
}

/** Fields without any counterpart. Unknown ones are left out unsaid: the API refuses what it does not know. */
const withoutCounterpart = [
  'n',
  'seed',
  'logit_bias',
  'logprobs',
  'top_logprobs',
  'frequency_penalty',
  'presence_penalty',
  'modalities',
  'audio',
  'prediction',
  'store',
  'verbosity',
  'web_search_options',
  'prompt_cache_key',
  'prompt_cache_retention',
  'moderation',
]

/** Whom a request is for. */
export interface AnthropicAddressee {
  readonly upstreamId: string
  readonly model: ClaudeModel
  /** The configured bound of the model. */
  readonly most: number | undefined
}

/** Translates a chat request for one model. Throws `CannotExpress` when it has no form here. */
export function anthropicRequest(
  call: ChatCall,
  { upstreamId, model, most }: AnthropicAddressee,
): Translation {
  const request = readRequest(call)
  const extras = readExtras(call.request)
  const dropped = [...fieldsInUse(request, withoutCounterpart), ...request.leftOut]
  const drop: Drop = (path) => dropped.push(path)

  const own = extras.thinking ?? undefined
  const { thinking: wanted, effort } = claudeReasoning({ request, own }, model, drop)
  const { maxTokens, thinking } = claudeBound({
    asked: request.maxTokens,
    otherwise: model.maxTokens,
    most,
    thinking: wanted,
    includesThinking: own !== undefined,
  })
  if (wanted && !thinking) drop(own ? 'thinking' : 'reasoning_effort')
  const thinks = thinking !== undefined && thinking['type'] !== 'disabled'
  const format = formatOf(request, model, drop)
  // Members that are undefined do not reach the wire.
  const body = {
    model: upstreamId,
    max_tokens: maxTokens,
    ...conversationOf(request.messages, drop),
    ...samplingOf(request, model.sampling && !thinks, drop),
    stop_sequences: stopsOf(request, drop),
    ...toolFields(request, model, thinking, drop),
    thinking,
    output_config: effort || format ? { effort, format } : undefined,
    metadata: userOf(extras, drop),
    service_tier: tierOf(request, drop),
    stream: call.stream || undefined,
  }
  const betas = request.messages.some(usesStoredFiles) ? ['files-api-2025-04-14'] : []
  return { body, maxTokens, betas, dropped }
}

const text = z.string().nullish()
const jsonObject = z.custom<Raw>(isObject, 'must be an object').nullish()

/** Fields that only this vendor has a use for. */
const extraFields = z.object({
  user: text,
  safety_identifier: text,
  metadata: jsonObject,
  thinking: jsonObject,
})

type Extras = z.infer<typeof extraFields>

function readExtras(request: ChatRequest): Extras {
  const parsed = extraFields.safeParse(request, inOurWords)
  if (!parsed.success) throw inexpressibleField(parsed.error)
  return parsed.data
}

function samplingOf(
  { temperature, topP, topK }: OpenAiRequest,
  allowed: boolean,
  drop: Drop,
): object {
  const warmth = temperature ?? 1
  // From 0.99 on it is what the vendor takes for the default.
  const narrows = topP !== undefined && topP < 0.99
  if (!allowed) {
    if (warmth !== 1) drop('temperature')
    if (narrows) drop('top_p')
    if (topK !== undefined) drop('top_k')
    return {}
  }
  // The range ends at 1, and since Claude 4 only one of the two may be set.
  if (warmth > 1) drop('temperature')
  if (temperature !== undefined && narrows) drop('top_p')
  return {
    temperature: temperature === undefined ? undefined : Math.min(temperature, 1),
    top_p: temperature === undefined ? topP : undefined,
    top_k: topK,
  }
}

/** Blank stop sequences are refused. */
function stopsOf({ stop }: OpenAiRequest, drop: Drop): readonly string[] | undefined {
  const kept = stop.filter((sequence) => sequence.trim() !== '')
  if (stop.some((sequence) => sequence !== '' && sequence.trim() === '')) drop('stop')
  return kept.length > 0 ? kept : undefined
}

function formatOf(
  { responseFormat: format }: OpenAiRequest,
  { schemas }: ClaudeModel,
  drop: Drop,
): object | undefined {
  if (format.kind === 'text') return undefined
  if (format.kind === 'json_schema' && format.schema && schemas) {
    return { type: 'json_schema', schema: claudeSchema(format.schema) }
  }
  drop('response_format')
  return undefined
}

/** The end user's id. Addresses and phone numbers are refused, so they are not sent. */
function userOf({ user, safety_identifier, metadata }: Extras, drop: Drop): object | undefined {
  const { user_id: own, ...others } = metadata ?? {}
  if (Object.keys(others).length > 0) drop('metadata')
  const id = [user, safety_identifier, own].find(isUserId)
  return id === undefined ? undefined : { user_id: id }
}

const mail = /^\S+@\S+\.\S+$/
const phone = /^\+?[\d\s()-]{7,}$/

function isUserId(id: unknown): id is string {
  if (typeof id !== 'string' || id === '' || id.length > 256) return false
  return !mail.test(id) && !phone.test(id)
}

const tiers: ReadonlyMap<string, string> = new Map([
  ['auto', 'auto'],
  ['default', 'standard_only'],
])

function tierOf({ serviceTier }: OpenAiRequest, drop: Drop): string | undefined {
  if (serviceTier === undefined) return undefined
  const tier = tiers.get(serviceTier)
  if (tier === undefined) drop('service_tier')
  return tier
}
