import * as z from 'zod'
import type { ChatCall, ChatRequest } from '../../core/chat.ts'
import { schemaMessages, untranslatableField } from '../../core/invalid-field.ts'
import { isObject } from '../../wire/json.ts'
import type { JsonObject } from '../canonical/messages.ts'
import { type CanonicalRequest, readRequest } from '../canonical/request.ts'
import type { ClaudeModel } from '../claude/models.ts'
import { claudeThinking } from '../claude/reasoning.ts'
import { claudeSchema } from '../claude/schema.ts'
import { filterUnsupported } from '../translation/filter-unsupported.ts'
import { claudeConditions, mayForce } from './conditions.ts'
import { usesStoredFiles } from './media.ts'
import { conversationOf } from './messages.ts'
import { toolFields } from './tools.ts'

/** A request in the words of the Messages API. */
export interface Translation {
  readonly body: JsonObject
  /** The bound in that body. */
  readonly maxTokens: number | undefined
  /** Features that the `anthropic-beta` header must name. */
  readonly betas: readonly string[]
  /** The paths of everything that was left out or changed because it has no counterpart. */
  readonly dropped: readonly string[]
}

/** Whom a request is for. */
export interface AnthropicAddressee {
  readonly upstreamId: string
  readonly model: ClaudeModel
  /** The configured bound of the model. */
  readonly most: number | undefined
}

/** Translates a chat request for one model. Throws `UntranslatableError` when it has no form here. */
export function anthropicRequest(
  call: ChatCall,
  { upstreamId, model, most }: AnthropicAddressee,
): Translation {
  const asked = readRequest(call)
  const extras = readExtras(call.request)
  const reasoning = claudeThinking({
    request: asked,
    own: extras.thinking ?? undefined,
    model,
    otherwise: () => model.maxTokens,
    most,
  })
  const { request, dropped } = filterUnsupported(
    asked,
    'anthropic',
    claudeConditions(model, reasoning),
  )
  const { maxTokens, thinking, effort } = reasoning
  const format = formatOf(request)
  // Members that are undefined do not reach the wire.
  const body = {
    model: upstreamId,
    max_tokens: maxTokens,
    ...conversationOf(request.messages),
    ...samplingOf(request),
    stop_sequences: request.stop.length > 0 ? request.stop : undefined,
    ...toolFields(request, mayForce(model, reasoning)),
    thinking,
    output_config: effort || format ? { effort, format } : undefined,
    metadata: userOf(extras),
    service_tier: tierOf(request),
    stream: call.stream || undefined,
  }
  const betas = request.messages.some(usesStoredFiles) ? ['files-api-2025-04-14'] : []
  return { body, maxTokens, betas, dropped }
}

const text = z.string().nullish()
const jsonObject = z.custom<JsonObject>(isObject, 'must be an object').nullish()

/** Fields that only this vendor has a use for. */
const extraFields = z.object({
  user: text,
  safety_identifier: text,
  metadata: jsonObject,
  thinking: jsonObject,
})

type Extras = z.infer<typeof extraFields>

function readExtras(request: ChatRequest): Extras {
  const parsed = extraFields.safeParse(request, schemaMessages)
  if (!parsed.success) throw untranslatableField(parsed.error)
  return parsed.data
}

/** The range of the temperature ends at 1. */
function samplingOf({ temperature, topP, topK }: CanonicalRequest): object {
  return {
    temperature: temperature === undefined ? undefined : Math.min(temperature, 1),
    top_p: topP,
    top_k: topK,
  }
}

function formatOf({ responseFormat: format }: CanonicalRequest): object | undefined {
  return format.kind === 'json_schema'
    ? { type: 'json_schema', schema: claudeSchema(format.schema) }
    : undefined
}

/** The end user's id. Addresses and phone numbers are refused, so they are not sent. */
function userOf({ user, safety_identifier, metadata }: Extras): object | undefined {
  const id = [user, safety_identifier, metadata?.['user_id']].find(isUserId)
  return id === undefined ? undefined : { user_id: id }
}

const mail = /^\S+@\S+\.\S+$/
const phone = /^\+?[\d\s()-]{7,}$/

function isUserId(id: unknown): id is string {
  if (typeof id !== 'string' || id === '' || id.length > 256) return false
  return !mail.test(id) && !phone.test(id)
}

function tierOf({ serviceTier: tier }: CanonicalRequest): string | undefined {
  return tier === 'default' ? 'standard_only' : tier
}
