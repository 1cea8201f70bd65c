import * as z from 'zod'
import { list, loose, validateAsSent } from '../../core/as-sent.ts'
import type { ChatCall } from '../../core/chat.ts'
import { untranslatableField } from '../../core/invalid-field.ts'
import type { Steps } from '../../core/steps.ts'
import { readWish, type ThinkingWish } from '../../core/thinking-wish.ts'
import type { JsonObject } from '../../wire/json/parse.ts'
import { extractTexts } from '../../wire/json/text.ts'
import { type CanonicalMessage, type RawTextReader, readMessages } from './messages.ts'
import { memoizePerCall, type PerCall } from './per-call.ts'
import { checkRequestSize } from './request-size.ts'
import {
  type FunctionTool,
  jsonObject,
  readToolChoice,
  readTools,
  type ToolChoice,
  toolFields,
  type UnreadField,
  type VendorTool,
} from './tools.ts'
import { type LiftedRequest, liftVendorFields, parseRequestFields } from './vendor-fields.ts'

/**
 * A chat request as the translated kinds read it: typed, with `null` read as absent, and with old and new
 * names of a field merged. Fields that only one vendor reads are in `raw`.
 */
export interface CanonicalRequest extends LiftedRequest {
  readonly messages: readonly CanonicalMessage[]
  /** The functions on offer, from `tools` or the legacy `functions`; empty when there are none. */
  readonly tools: readonly FunctionTool[]
  /** The tools that a vendor defines. */
  readonly vendorTools: readonly VendorTool[]
  /** OpenAI's search of the web, which some vendors have a tool for. */
  readonly webSearch: WebSearch | undefined
  /** What the gateway does not read: tools that are not functions, unknown values of known fields. */
  readonly leftOut: readonly UnreadField[]
  readonly toolChoice: ToolChoice | undefined
  readonly parallelToolCalls: boolean | undefined
  readonly responseFormat: ResponseFormat
  /** The stop sequences. None is the empty string, but some may be white space. */
  readonly stop: readonly string[]
  /** `max_completion_tokens`, else `max_tokens`. */
  readonly maxTokens: number | undefined
  /** The gateway has written the request for a client of another API. */
  readonly isMade: boolean
  /**
   * From `reasoning_effort`, and for a request of another API also from `thinking`. In a chat request that is a
   * field of Claude's.
   */
  readonly thinking: ThinkingWish<ReasoningEffort>
  readonly temperature: number | undefined
  readonly topP: number | undefined
  /** Not part of the OpenAI API, but sent by many clients. */
  readonly topK: number | undefined
  readonly frequencyPenalty: number | undefined
  readonly presencePenalty: number | undefined
  /** An integer; beyond 2^53 it is the nearest number. */
  readonly seed: number | undefined
  readonly n: number | undefined
  readonly logprobs: boolean | undefined
  readonly topLogprobs: number | undefined
  readonly modalities: readonly string[] | undefined
  readonly serviceTier: string | undefined
}

export type ResponseFormat =
  | { readonly kind: 'text' | 'json_object' }
  | {
      readonly kind: 'json_schema'
      readonly name: string | undefined
      readonly description: string | undefined
      readonly schema: JsonObject | undefined
      readonly strict: boolean
    }

const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const
export type ReasoningEffort = Exclude<(typeof efforts)[number], 'none'>

/** Reads a request once for all links and attempts. Throws `UntranslatableError` with the field at fault. */
export const readRequest: PerCall<CanonicalRequest> = memoizePerCall(function* (call) {
  checkRequestSize(call)
  return yield* parseRequest(call, createRawTextReader(call))
})

const text = z.string().nullish()
const number = z.number().nullish()
const flag = z.boolean().nullish()

const webSearch = loose({
  search_context_size: text,
  user_location: loose({
    approximate: loose({ city: text, country: text, region: text, timezone: text }).nullish(),
  }).nullish(),
})

export type WebSearch = z.infer<typeof webSearch>

const fields = loose({
  ...toolFields,
  parallel_tool_calls: flag,
  response_format: loose({ type: z.string() }).nullish(),
  stop: z.union([z.string(), list(z.string())]).nullish(),
  reasoning_effort: text,
  temperature: number,
  top_p: number,
  top_k: number,
  frequency_penalty: number,
  presence_penalty: number,
  seed: z.number().refine(Number.isInteger, 'must be an integer').nullish(),
  logprobs: flag,
  top_logprobs: number,
  modalities: list(z.string()).nullish(),
  service_tier: text,
  web_search_options: webSearch.nullish(),
})

type Fields = z.infer<typeof fields>

function* parseRequest(
  { request, isMade }: ChatCall,
  readRawText: RawTextReader,
): Steps<CanonicalRequest> {
  const lifted = liftVendorFields(request)
  const { raw } = lifted
  const data = parseRequestFields(fields, lifted)
  yield
  const { tools, vendorTools, otherTools } = readTools(data)
  const leftOut = [...otherTools]
  const onUnread = (unread: UnreadField) => leftOut.push(unread)
  yield
  const messages = yield* readMessages(raw.messages, readRawText)
  return {
    messages,
    tools,
    vendorTools,
    webSearch: data.web_search_options ?? undefined,
    leftOut,
    toolChoice: readToolChoice(data, onUnread),
    parallelToolCalls: data.parallel_tool_calls ?? undefined,
    responseFormat: readResponseFormat(data, onUnread),
    stop: [data.stop ?? []].flat().filter((sequence) => sequence !== ''),
    maxTokens: raw.max_completion_tokens ?? raw.max_tokens ?? undefined,
    isMade,
    thinking: readWish({
      thinking: isMade ? raw['thinking'] : undefined,
      effort: readEffort(data, onUnread),
    }),
    temperature: data.temperature ?? undefined,
    topP: data.top_p ?? undefined,
    topK: data.top_k ?? undefined,
    frequencyPenalty: data.frequency_penalty ?? undefined,
    presencePenalty: data.presence_penalty ?? undefined,
    seed: data.seed ?? undefined,
    n: raw.n ?? undefined,
    logprobs: data.logprobs ?? undefined,
    topLogprobs: data.top_logprobs ?? undefined,
    modalities: data.modalities ?? undefined,
    serviceTier: data.service_tier ?? undefined,
    ...lifted,
  }
}

type OnUnread = (unread: UnreadField) => void

function readEffort({ reasoning_effort: effort }: Fields, onUnread: OnUnread) {
  if (effort === undefined || effort === null) return undefined
  const known = efforts.find((name) => name === effort)
  if (!known) onUnread({ feature: 'reasoning_effort with another value', path: 'reasoning_effort' })
  return known
}

const schemaFormat = loose({
  json_schema: loose({ name: text, description: text, schema: jsonObject, strict: flag }),
})

function readResponseFormat(
  { response_format: format }: Fields,
  onUnread: OnUnread,
): ResponseFormat {
  switch (format?.type) {
    case undefined:
    case 'text':
      return { kind: 'text' }
    case 'json_object':
      return { kind: 'json_object' }
    case 'json_schema': {
      const parsed = validateAsSent(schemaFormat, format)
      if (!parsed.success) throw untranslatableField(parsed.error, 'response_format')
      const { name, description, schema, strict } = parsed.data.json_schema
      return {
        kind: 'json_schema',
        name: name ?? undefined,
        description: description ?? undefined,
        schema: schema ?? undefined,
        strict: strict ?? false,
      }
    }
    default:
      onUnread({ feature: 'response_format of another type', path: 'response_format' })
      return { kind: 'text' }
  }
}

const decoder = new TextDecoder()

/** Creates a reader of raw texts in a body. Paths that differ only in indexes share one scan. */
export function createRawTextReader(call: Pick<ChatCall, 'bytes'>): RawTextReader {
  const found = new Map<string, ReadonlyMap<string, string>>()
  return (path) => {
    const pattern = path.replace(/\.\d+(?=\.)/g, '.*')
    let texts = found.get(pattern)
    if (!texts) {
      texts = extractTexts(decoder.decode(call.bytes), pattern)
      found.set(pattern, texts)
    }
    return texts.get(path) ?? ''
  }
}
