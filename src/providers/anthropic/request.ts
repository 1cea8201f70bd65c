import * as z from 'zod'
import { list, loose } from '../../core/as-sent.ts'
import type { ChatCall } from '../../core/chat.ts'
import type { Steps } from '../../core/steps.ts'
import type { TranslatedRequest } from '../base/translated-request.ts'
import { bindToolNames } from '../canonical/named-request.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import { jsonObject } from '../canonical/tools.ts'
import { createOwnReader } from '../canonical/vendor-fields.ts'
import type { ClaudeModel } from '../claude/models.ts'
import { claudeFields, mergeOutputConfig } from '../claude/own-fields.ts'
import { resolveThinking } from '../claude/reasoning.ts'
import { toClaudeSchema } from '../claude/schema.ts'
import { fitStrictTools } from '../claude/strict-tools.ts'
import { filterUnsupported } from '../translation/filter-unsupported.ts'
import { canForceCalls, evaluateConditions } from './conditions.ts'
import { usesStoredFiles } from './media.ts'
import { beginsWithThinking, toAnthropicMessages } from './messages.ts'
import { toToolFields } from './tools.ts'

/** A chat request in the form of the Messages API. */
export interface AnthropicRequest extends TranslatedRequest {
  /** The features for the `anthropic-beta` header. */
  readonly betas: readonly string[]
}

/** The model that a request is for. */
export interface AnthropicTarget {
  readonly upstreamId: string
  readonly model: ClaudeModel
  /** The model's configured limit. */
  readonly maxOutputTokens: number | undefined
}

/**
 * The names that the API accepts: https://platform.claude.com/docs/en/api/messages, and in its own words
 * https://github.com/home-assistant/core/issues/147760
 */
export const { read: readNamed, readNames } = bindToolNames(/^[a-zA-Z0-9_-]{1,128}$/)

/** Translates a chat request. Throws `UntranslatableError` for content that the API cannot carry. */
export function* toAnthropicRequest(
  call: ChatCall,
  { upstreamId, model, maxOutputTokens }: AnthropicTarget,
): Steps<AnthropicRequest> {
  const { request: original } = yield* readNamed.inSteps(call)
  const own = readOwnFields(original)
  const reasoning = resolveThinking({
    request: original,
    own: own.thinking ?? undefined,
    model,
    beginsWithThinking,
    defaultMaxTokens: () => model.maxTokens,
    maxOutputTokens,
  })
  const { request: filtered, dropped } = yield* filterUnsupported(
    original,
    'anthropic',
    evaluateConditions(model, reasoning),
  )
  yield
  const strict = fitStrictTools(filtered)
  const request = { ...filtered, tools: strict.tools }
  const { maxTokens, thinking, effort } = reasoning
  yield
  const format = toOutputFormat(request)
  yield
  const conversation = yield* toAnthropicMessages(request.messages, model)
  yield
  // Members that are undefined do not reach the wire.
  const body = {
    model: upstreamId,
    max_tokens: maxTokens,
    ...conversation,
    ...toSampling(request),
    stop_sequences: request.stop.length > 0 ? request.stop : undefined,
    ...toToolFields(request, canForceCalls(model, reasoning)),
    thinking,
    output_config: mergeOutputConfig({ effort, format }, own.output_config),
    metadata: toMetadata(own),
    service_tier: toServiceTier(request),
    cache_control: own.cache_control ?? undefined,
    context_management: own.context_management ?? undefined,
    container: own.container ?? undefined,
    mcp_servers: own.mcp_servers ?? undefined,
    stream: call.stream || undefined,
  }
  return {
    body,
    maxTokens,
    betas: listBetas(request, own),
    dropped: [...dropped, ...strict.dropped, ...reasoning.dropped],
  }
}

const text = z.string().nullish()

/** Reads the fields that this vendor uses and the canonical request does not read. */
const readOwnFields = createOwnReader({
  user: text,
  safety_identifier: text,
  metadata: jsonObject,
  ...claudeFields,
  cache_control: jsonObject,
  container: z.union([z.string(), loose({})]).nullish(),
  mcp_servers: list(loose({})).nullish(),
})

type OwnFields = ReturnType<typeof readOwnFields>

function listBetas({ messages }: CanonicalRequest, { anthropic_beta: own }: OwnFields): string[] {
  const files = messages.some(usesStoredFiles) ? ['files-api-2025-04-14'] : []
  return [...new Set([...(own ?? []), ...files])]
}

/** The API accepts temperatures up to 1. */
function toSampling({ temperature, topP, topK }: CanonicalRequest): object {
  return {
    temperature: temperature === undefined ? undefined : Math.min(temperature, 1),
    top_p: topP,
    top_k: topK,
  }
}

function toOutputFormat({ responseFormat: format }: CanonicalRequest): object | undefined {
  return format.kind === 'json_schema'
    ? { type: 'json_schema', schema: toClaudeSchema(format.schema) }
    : undefined
}

/** The API rejects mail addresses, phone numbers and ids of more than 256 characters. */
function toMetadata({ user, safety_identifier, metadata }: OwnFields): object | undefined {
  const id = [user, safety_identifier, metadata?.['user_id']].find(isUserId)
  return id === undefined ? undefined : { user_id: id }
}

const mail = /^\S+@\S+\.\S+$/
const phone = /^\+?[\d\s()-]{7,}$/

function isUserId(id: unknown): id is string {
  if (typeof id !== 'string' || id === '' || id.length > 256) return false
  return !mail.test(id) && !phone.test(id)
}

function toServiceTier({ serviceTier: tier }: CanonicalRequest): string | undefined {
  return tier === 'default' ? 'standard_only' : tier
}
