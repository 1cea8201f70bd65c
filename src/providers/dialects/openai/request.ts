import { z } from 'zod'
import { asSent, list, loose } from '../../../core/as-sent.ts'
import type { ChatCall, ChatRequest } from '../../../core/chat.ts'
import { invalidField } from '../../../core/invalid-field.ts'
import { oncePerCall } from '../once-per-call.ts'
import { textsIn } from './arguments.ts'
import { type Message, type Raw, readMessages, type WrittenAt } from './messages.ts'
import { checkSize } from './request-size.ts'
import { isObject } from './usage.ts'

/**
 * A chat request as the translated kinds read it: typed, `null` and absent alike, spellings of old
 * and new fields made one. Fields that only one vendor reads are found in `raw`.
 */
export interface OpenAiRequest {
  readonly messages: readonly Message[]
  /** The functions on offer, from `tools` or the legacy `functions`; empty when there are none. */
  readonly tools: readonly FunctionTool[]
  /** The paths of tools that are no functions. */
  readonly otherTools: readonly string[]
  readonly toolChoice: ToolChoice | undefined
  readonly parallelToolCalls: boolean | undefined
  readonly responseFormat: ResponseFormat
  /** Empty when there is none. Strings may be empty or blank. */
  readonly stop: readonly string[]
  /** `max_completion_tokens`, else `max_tokens`. */
  readonly maxTokens: number | undefined
  readonly reasoningEffort: ReasoningEffort | undefined
  readonly temperature: number | undefined
  readonly topP: number | undefined
  /** An extra that many clients send. */
  readonly topK: number | undefined
  readonly frequencyPenalty: number | undefined
  readonly presencePenalty: number | undefined
  /** An integer, beyond 2^53 as near as a number gets. */
  readonly seed: number | undefined
  readonly n: number | undefined
  readonly logprobs: boolean | undefined
  readonly topLogprobs: number | undefined
  readonly modalities: readonly string[] | undefined
  readonly serviceTier: string | undefined
  readonly raw: ChatRequest
}

export interface FunctionTool {
  readonly name: string
  readonly description: string | undefined
  /** A JSON schema, the client's own object. */
  readonly parameters: Raw | undefined
  readonly strict: boolean
  readonly path: string
  readonly raw: Raw
}

export type ToolChoice =
  | { readonly kind: 'auto' | 'none' | 'required' }
  | { readonly kind: 'function'; readonly name: string }
  /** Only the named functions may be called, or one of them must be. */
  | {
      readonly kind: 'allowed'
      readonly mode: 'auto' | 'required'
      readonly names: readonly string[]
    }
  /** One tool that is no function. */
  | { readonly kind: 'custom' }

export type ResponseFormat =
  | { readonly kind: 'text' | 'json_object' }
  | {
      readonly kind: 'json_schema'
      readonly name: string | undefined
      readonly description: string | undefined
      readonly schema: Raw | undefined
      readonly strict: boolean
    }

const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const
export type ReasoningEffort = (typeof efforts)[number]

/** Reads a request, once for all links and attempts. Throws LM-1001 with the field at fault. */
export const readRequest: (call: ChatCall) => OpenAiRequest = oncePerCall((call) => {
  checkSize(call)
  return read(call.request, textsIn(call.bytes))
})

/** The functions that may be called at all: those on offer, less what `allowed_tools` leaves out. */
export function callableTools({ tools, toolChoice }: OpenAiRequest): readonly FunctionTool[] {
  if (toolChoice?.kind !== 'allowed') return tools
  const names = new Set(toolChoice.names)
  return tools.filter(({ name }) => names.has(name))
}

const text = z.string().nullish()
const number = z.number().nullish()
const flag = z.boolean().nullish()
// Kept as it is: copying could lose members such as `__proto__`.
const jsonObject = z.custom<Raw>(isObject, 'must be an object').nullish()

const functionDefinition = loose({
  name: z.string(),
  description: text,
  parameters: jsonObject,
  strict: flag,
})

const named = loose({ name: z.string() })

const toolChoice = z.union([
  z.enum(['auto', 'none', 'required']),
  z.discriminatedUnion('type', [
    z.object({ type: z.literal('function'), function: named }),
    z.object({ type: z.literal('custom'), custom: named }),
    z.object({
      type: z.literal('allowed_tools'),
      allowed_tools: z.object({
        mode: z.enum(['auto', 'required']),
        tools: list(loose({ function: named.optional() })),
      }),
    }),
  ]),
])

const responseFormat = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text') }),
  z.object({ type: z.literal('json_object') }),
  z.object({
    type: z.literal('json_schema'),
    json_schema: z.object({
      name: text,
      description: text,
      schema: jsonObject,
      strict: flag,
    }),
  }),
])

const fields = loose({
  tools: list(loose({ type: text, function: functionDefinition.nullish() })).nullish(),
  functions: list(functionDefinition).nullish(),
  tool_choice: toolChoice.nullish(),
  function_call: z.union([z.enum(['auto', 'none']), named]).nullish(),
  parallel_tool_calls: flag,
  response_format: responseFormat.nullish(),
  stop: z.union([z.string(), list(z.string())]).nullish(),
  reasoning_effort: z.enum(efforts).nullish(),
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
})

type Fields = z.infer<typeof fields>

function read(raw: ChatRequest, writtenAt: WrittenAt): OpenAiRequest {
  const parsed = asSent(fields, raw)
  if (!parsed.success) throw invalidField(parsed.error)
  const { data } = parsed
  return {
    messages: readMessages(raw.messages, writtenAt),
    ...readTools(data),
    toolChoice: readToolChoice(data),
    parallelToolCalls: data.parallel_tool_calls ?? undefined,
    responseFormat: readResponseFormat(data.response_format),
    stop: typeof data.stop === 'string' ? [data.stop] : (data.stop ?? []),
    maxTokens: raw.max_completion_tokens ?? raw.max_tokens ?? undefined,
    reasoningEffort: data.reasoning_effort ?? undefined,
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
    raw,
  }
}

function readTools({ tools, functions }: Fields): Pick<OpenAiRequest, 'tools' | 'otherTools'> {
  if (!tools) {
    const legacy = (functions ?? []).map((f, index) => functionTool(f, f, `functions.${index}`))
    return { tools: legacy, otherTools: [] }
  }
  const placed = tools.map((tool, index) => ({ tool, path: `tools.${index}` }))
  return {
    tools: placed.flatMap(({ tool, path }) =>
      tool.function ? [functionTool(tool.function, tool, path)] : [],
    ),
    otherTools: placed.flatMap(({ tool, path }) => (tool.function ? [] : [path])),
  }
}

function functionTool(
  { name, description, parameters, strict }: z.infer<typeof functionDefinition>,
  raw: Raw,
  path: string,
): FunctionTool {
  return {
    name,
    description: description ?? undefined,
    parameters: parameters ?? undefined,
    strict: strict ?? false,
    path,
    raw,
  }
}

function readToolChoice({ tool_choice, function_call }: Fields): ToolChoice | undefined {
  if (typeof tool_choice === 'string') return { kind: tool_choice }
  switch (tool_choice?.type) {
    case 'function':
      return { kind: 'function', name: tool_choice.function.name }
    case 'allowed_tools': {
      const { mode, tools } = tool_choice.allowed_tools
      return { kind: 'allowed', mode, names: tools.flatMap((tool) => tool.function?.name ?? []) }
    }
    case 'custom':
      return { kind: 'custom' }
    case undefined:
      break
    default:
      return tool_choice satisfies never
  }
  if (typeof function_call === 'string') return { kind: function_call }
  return function_call ? { kind: 'function', name: function_call.name } : undefined
}

function readResponseFormat(format: Fields['response_format']): ResponseFormat {
  if (!format) return { kind: 'text' }
  if (format.type !== 'json_schema') return { kind: format.type }
  const { name, description, schema, strict } = format.json_schema
  return {
    kind: 'json_schema',
    name: name ?? undefined,
    description: description ?? undefined,
    schema: schema ?? undefined,
    strict: strict ?? false,
  }
}
