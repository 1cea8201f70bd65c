import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import {
  type Answer,
  type Conversation,
  findMismatch,
  hasCalls,
  mergeTurns,
  type Part,
  type Turn,
} from './conversation.ts'
import {
  bracketedPath,
  type Dialect,
  parseBody,
  type Reply,
  sseFrame,
  upstreamKey,
} from './dialect.ts'
import { findSchemaProblem, type JsonSchema } from './json-schema.ts'
import { splitJson, splitText } from './parts.ts'
import { check, Refusal } from './refusal.ts'
import { answer, readScenario } from './scenario.ts'

/** OpenAI's chat completions: https://platform.openai.com/docs/api-reference/chat/create */
export const openai: Dialect = {
  handle({ path, headers, body }) {
    if (path !== '/v1/chat/completions') throw new Refusal(404, `unknown path ${path}`)
    if (headers.get('authorization') !== `Bearer ${upstreamKey}`)
      throw new Refusal(401, 'incorrect API key provided')
    const request = parseBody(requestSchema, body, bracketedPath)
    const scenario = readScenario(request.model)
    checkTools(request)
    const given = answer(scenario, readConversation(request))
    return request.stream ? streamReply(request, given) : wholeReply(request, given)
  },

  refuse({ status, message, retryAfter }) {
    const type = errorTypes[status] ?? (status < 500 ? 'invalid_request_error' : 'server_error')
    return {
      status,
      ...(retryAfter !== undefined && { headers: { 'retry-after': String(retryAfter) } }),
      body: { error: { message, type, param: null, code: errorCodes[status] ?? null } },
    }
  },
}

const errorTypes: Readonly<Record<number, string>> = { 429: 'requests' }
const errorCodes: Readonly<Record<number, string>> = {
  401: 'invalid_api_key',
  404: 'model_not_found',
  429: 'rate_limit_exceeded',
}

const textPart = z.strictObject({ type: z.literal('text'), text: z.string() })

const userPart = z.discriminatedUnion('type', [
  textPart,
  z.strictObject({
    type: z.literal('image_url'),
    image_url: z.strictObject({ url: z.string().min(1), detail: z.string().optional() }),
  }),
  z.strictObject({ type: z.literal('input_audio'), input_audio: z.object({}) }),
  z.strictObject({ type: z.literal('file'), file: z.object({}) }),
])

const functionName = z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/)

const toolCall = z.strictObject({
  id: z.string().min(1),
  type: z.literal('function'),
  function: z.strictObject({ name: functionName, arguments: z.string() }),
})

const texts = z.union([z.string(), z.array(textPart).min(1)])

const anyMessage = z.discriminatedUnion('role', [
  z.strictObject({
    role: z.enum(['system', 'developer']),
    content: texts,
    name: z.string().optional(),
  }),
  z.strictObject({
    role: z.literal('user'),
    content: z.union([z.string(), z.array(userPart).min(1)]),
    name: z.string().optional(),
  }),
  z.strictObject({
    role: z.literal('assistant'),
    content: texts.nullish(),
    refusal: z.string().nullish(),
    name: z.string().optional(),
    tool_calls: z.array(toolCall).min(1).optional(),
  }),
  z.strictObject({ role: z.literal('tool'), content: texts, tool_call_id: z.string() }),
])

const schema = z.custom<JsonSchema>((value) => typeof value === 'object' && value !== null)

const tool = z.strictObject({
  type: z.literal('function'),
  function: z.strictObject({
    name: functionName,
    description: z.string().nullish(),
    parameters: schema.optional(),
    strict: z.boolean().nullish(),
  }),
})

const requestSchema = z.strictObject({
  model: z.string(),
  messages: z.array(anyMessage).min(1),
  stream: z.boolean().nullish(),
  stream_options: z
    .strictObject({
      include_usage: z.boolean().optional(),
      include_obfuscation: z.boolean().optional(),
    })
    .nullish(),
  tools: z.array(tool).min(1).optional(),
  tool_choice: z
    .union([
      z.enum(['none', 'auto', 'required']),
      z.strictObject({
        type: z.literal('function'),
        function: z.strictObject({ name: functionName }),
      }),
    ])
    .optional(),
  parallel_tool_calls: z.boolean().optional(),
  response_format: z
    .discriminatedUnion('type', [
      z.strictObject({ type: z.literal('text') }),
      z.strictObject({ type: z.literal('json_object') }),
      z.strictObject({
        type: z.literal('json_schema'),
        json_schema: z.strictObject({
          name: functionName,
          description: z.string().optional(),
          schema: schema.optional(),
          strict: z.boolean().nullish(),
        }),
      }),
    ])
    .optional(),
  max_tokens: z.int().positive().nullish(),
  max_completion_tokens: z.int().positive().nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  stop: z.union([z.string(), z.array(z.string()).min(1).max(4)]).nullish(),
  reasoning_effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']).nullish(),
  verbosity: z.enum(['low', 'medium', 'high']).nullish(),
  metadata: z.record(z.string().max(64), z.string().max(512)).nullish(),
  n: z.int().min(1).nullish(),
  seed: z.int().nullish(),
  logprobs: z.boolean().nullish(),
  top_logprobs: z.int().min(0).max(20).nullish(),
  frequency_penalty: z.number().nullish(),
  presence_penalty: z.number().nullish(),
  service_tier: z.string().nullish(),
  store: z.boolean().nullish(),
  user: z.string().optional(),
  safety_identifier: z.string().max(64).optional(),
  prompt_cache_key: z.string().optional(),
  prompt_cache_retention: z.string().nullish(),
})

type ChatRequest = z.infer<typeof requestSchema>
type Message = ChatRequest['messages'][number]

function checkTools(request: ChatRequest): void {
  const { tools, tool_choice, parallel_tool_calls, response_format, stream, stream_options } =
    request
  check(
    tools !== undefined || tool_choice === undefined,
    "'tool_choice' is only allowed when 'tools' are specified.",
  )
  check(
    tools !== undefined || parallel_tool_calls === undefined,
    "'parallel_tool_calls' is only allowed when 'tools' are specified.",
  )
  check(
    stream === true || !stream_options,
    "'stream_options' is only allowed when 'stream' is enabled.",
  )
  for (const [index, { function: each }] of (tools ?? []).entries()) {
    checkSchema(each, `tools[${index}].function.parameters`)
    if (each.parameters)
      check(
        each.parameters.type === 'object',
        `tools[${index}].function.parameters: type must be 'object'`,
      )
  }
  const names = (tools ?? []).map((each) => each.function.name)
  check(new Set(names).size === names.length, 'tools: the names must be unique')
  if (typeof tool_choice === 'object')
    check(
      names.includes(tool_choice.function.name),
      `tool_choice: tools has no '${tool_choice.function.name}'`,
    )
  if (response_format?.type === 'json_schema') {
    const { schema: parameters, strict } = response_format.json_schema
    checkSchema({ parameters, strict }, 'response_format.json_schema.schema')
  }
}

function checkSchema(
  {
    parameters,
    strict,
  }: { parameters?: JsonSchema | undefined; strict?: boolean | null | undefined },
  path: string,
): void {
  if (!parameters) return
  const rules = strict ? { isClosed: true, isComplete: true } : {}
  const problem = findSchemaProblem(parameters, rules)
  check(problem === undefined, `Invalid schema in '${path}': ${problem}`)
}

function readConversation(request: ChatRequest): Conversation {
  const { tools, tool_choice: choice, response_format: format, reasoning_effort: effort } = request
  const turns = mergeTurns(request.messages.flatMap((each, index) => toTurn(each, index)))
  check(turns.length > 0, 'messages: at least one must come from the user')
  const mismatch = findMismatch(turns)
  if (mismatch) {
    const { unanswered, unknown } = mismatch
    throw new Refusal(
      400,
      unanswered.length > 0
        ? `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${unanswered.join(', ')}`
        : `messages with role 'tool' must be a response to a preceding message with 'tool_calls': ${unknown.join(', ')}`,
    )
  }
  return {
    turns,
    tools: (tools ?? []).map(({ function: { name, parameters } }) => ({
      name,
      schema: parameters ?? { type: 'object' },
    })),
    choice:
      typeof choice === 'object'
        ? choice.function
        : choice === 'required'
          ? 'any'
          : (choice ?? 'auto'),
    format: format?.type === 'json_schema' ? format.json_schema.schema : undefined,
    thinks: effort !== undefined && effort !== null && effort !== 'none',
  }
}

function toTurn(given: Message, index: number): Turn[] {
  switch (given.role) {
    case 'system':
    case 'developer':
      return []
    case 'user':
      return [{ role: 'user', text: toText(given.content), results: [] }]
    case 'tool':
      return [
        {
          role: 'user',
          text: '',
          results: [{ id: given.tool_call_id, text: toText(given.content) }],
        },
      ]
    case 'assistant': {
      const { content, refusal, tool_calls: calls = [] } = given
      const isEmpty = content === undefined || content === null
      check(
        !isEmpty || calls.length > 0 || typeof refusal === 'string',
        `Invalid value for 'messages[${index}].content': expected a string, got null.`,
      )
      return [
        {
          role: 'model',
          text: toText(content ?? ''),
          calls: calls.map(({ id, function: { name, arguments: json } }) => ({
            id,
            name,
            input: parseArguments(json, index),
          })),
        },
      ]
    }
    default:
      return given satisfies never
  }
}

function parseArguments(json: string, index: number): object {
  try {
    return Object(JSON.parse(json || '{}'))
  } catch {
    throw new Refusal(400, `messages[${index}].tool_calls: the arguments are not JSON`)
  }
}

function toText(
  content: string | readonly { readonly type: string; readonly text?: string }[],
): string {
  return typeof content === 'string' ? content : content.map(({ text = '' }) => text).join('')
}

function toUsage({ usage }: Answer): object {
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
  }
}

function wholeReply({ model }: ChatRequest, given: Answer): Reply {
  const join = (kind: 'text' | 'reasoning') =>
    given.parts.flatMap((part) => (part.kind === kind ? [part.text] : [])).join('')
  const calls = given.parts.flatMap((part) => (part.kind === 'call' ? [toToolCall(part)] : []))
  const reasoning = join('reasoning')
  const message = {
    role: 'assistant',
    content: join('text') || null,
    refusal: null,
    ...(reasoning && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
  const choice = { index: 0, message, logprobs: null, finish_reason: toFinish(given) }
  const body = { ...newHead(model, 'chat.completion'), choices: [choice], usage: toUsage(given) }
  return { kind: 'whole', model, body }
}

function streamReply({ model, stream_options: options }: ChatRequest, given: Answer): Reply {
  const head = newHead(model, 'chat.completion.chunk')
  const chunk = (fields: object) =>
    sseFrame({
      ...head,
      ...fields,
      ...(options?.include_usage && !('usage' in fields) && { usage: null }),
    })
  const delta = (fields: object, finish: string | null = null) =>
    chunk({ choices: [{ index: 0, delta: fields, logprobs: null, finish_reason: finish }] })
  let calls = 0
  const deltas = given.parts.flatMap((part) => toDeltas(part, part.kind === 'call' ? calls++ : 0))
  const frames = [
    delta({ role: 'assistant', content: '' }),
    ...deltas.map((each) => delta(each)),
    delta({}, toFinish(given)),
    ...(options?.include_usage ? [chunk({ choices: [], usage: toUsage(given) })] : []),
    'data: [DONE]\n\n',
  ]
  return { kind: 'stream', model, contentType: 'text/event-stream; charset=utf-8', frames }
}

function toDeltas(part: Part, index: number): object[] {
  switch (part.kind) {
    case 'reasoning':
      return splitText(part.text).map((text) => ({ reasoning_content: text }))
    case 'text':
      return splitText(part.text).map((text) => ({ content: text }))
    case 'call': {
      const opened = toToolCall({ ...part, input: undefined })
      return [
        { tool_calls: [{ index, ...opened }] },
        ...splitJson(part.input).map((piece) => ({
          tool_calls: [{ index, function: { arguments: piece } }],
        })),
      ]
    }
    default:
      return part satisfies never
  }
}

function toToolCall({ id, name, input }: { id: string; name: string; input: object | undefined }) {
  const json = input ? JSON.stringify(input) : ''
  return { id, type: 'function', function: { name, arguments: json } }
}

function toFinish(given: Answer): string {
  return hasCalls(given) ? 'tool_calls' : 'stop'
}

function newHead(model: string, object: string): object {
  const created = Math.floor(Date.now() / 1000)
  return { id: `chatcmpl-${randomUUID()}`, object, created, model, service_tier: 'default' }
}
