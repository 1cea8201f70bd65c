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
  type Dialect,
  dottedPath,
  parseBody,
  type Reply,
  sseFrame,
  upstreamKey,
} from './dialect.ts'
import { findSchemaProblem, type JsonSchema } from './json-schema.ts'
import { splitJson, splitText } from './parts.ts'
import { signText, verifyText } from './proofs.ts'
import { check, Refusal } from './refusal.ts'
import { answer, countTokens, readScenario } from './scenario.ts'

/** Anthropic's Messages API: https://platform.claude.com/docs/en/api/messages */
export const anthropic: Dialect = {
  handle({ path, headers, body }) {
    const key = headers.get('x-api-key') ?? headers.get('authorization')?.replace(/^Bearer /, '')
    if (key !== upstreamKey) throw new Refusal(401, 'invalid x-api-key')
    check(headers.has('anthropic-version'), 'anthropic-version: header is required')
    if (path === '/v1/messages/count_tokens') return countReply(body)
    if (path !== '/v1/messages') throw new Refusal(404, `unknown path ${path}`)
    const request = parseBody(requestSchema, body, dottedPath)
    const scenario = readScenario(request.model)
    checkRequest(request)
    const given = answer(scenario, readConversation(request))
    return request.stream ? streamReply(request, given) : wholeReply(request, given)
  },

  refuse({ status, message, retryAfter }) {
    // https://platform.claude.com/docs/en/api/errors
    const code = status === 503 ? 529 : status
    const requestId = `req_${randomUUID()}`
    return {
      status: code,
      headers: {
        'request-id': requestId,
        ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
      },
      body: {
        type: 'error',
        error: { type: errorTypes[code] ?? 'api_error', message },
        request_id: requestId,
      },
    }
  },
}

const errorTypes: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
  529: 'overloaded_error',
}

const cacheControl = z.strictObject({
  type: z.literal('ephemeral'),
  ttl: z.enum(['5m', '1h']).optional(),
  scope: z.string().optional(),
})

const marked = { cache_control: cacheControl.nullish() }

const textBlock = z.strictObject({
  type: z.literal('text'),
  text: z.string().min(1, 'text content blocks must be non-empty'),
  citations: z.array(z.unknown()).nullish(),
  ...marked,
})

const mediaBlocks = [
  z.strictObject({
    type: z.literal('image'),
    source: z.looseObject({ type: z.string() }),
    ...marked,
  }),
  z.looseObject({ type: z.literal('document'), source: z.looseObject({ type: z.string() }) }),
  z.looseObject({ type: z.literal('search_result'), content: z.array(textBlock) }),
] as const

const toolId = z.string().regex(/^[a-zA-Z0-9_-]+$/)

const toolResult = z.strictObject({
  type: z.literal('tool_result'),
  tool_use_id: toolId,
  content: z
    .union([
      z.string(),
      z.array(
        z.discriminatedUnion('type', [
          textBlock,
          ...mediaBlocks,
          z.looseObject({ type: z.literal('tool_reference') }),
        ]),
      ),
    ])
    .optional(),
  is_error: z.boolean().optional(),
  ...marked,
})

const assistantBlock = z.discriminatedUnion('type', [
  textBlock,
  z.strictObject({
    type: z.literal('tool_use'),
    id: toolId,
    name: z.string().regex(/^[a-zA-Z0-9_-]{1,200}$/),
    input: z.record(z.string(), z.unknown()),
    caller: z.unknown().optional(),
    ...marked,
  }),
  z.strictObject({ type: z.literal('thinking'), thinking: z.string(), signature: z.string() }),
  z.strictObject({ type: z.literal('redacted_thinking'), data: z.string() }),
])

const userBlock = z.discriminatedUnion('type', [textBlock, ...mediaBlocks, toolResult])

const nonEmpty = z.string().min(1, 'text content must be non-empty')

const anyMessage = z.discriminatedUnion('role', [
  z.strictObject({
    role: z.literal('user'),
    content: z.union([nonEmpty, z.array(userBlock).min(1)]),
  }),
  z.strictObject({
    role: z.literal('assistant'),
    content: z.union([nonEmpty, z.array(assistantBlock).min(1)]),
  }),
  z.strictObject({
    role: z.literal('system'),
    content: z.union([nonEmpty, z.array(textBlock).min(1)]),
  }),
])

const schema = z.custom<JsonSchema>((value) => typeof value === 'object' && value !== null)

const tool = z.looseObject({
  type: z.string().nullish(),
  name: z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/),
  description: z.string().optional(),
  input_schema: schema.optional(),
  strict: z.boolean().optional(),
  ...marked,
})

const thinkingMode = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('enabled'),
    budget_tokens: z.int().min(1024),
    display: z.string().optional(),
  }),
  z.strictObject({ type: z.literal('adaptive'), display: z.string().optional() }),
  z.strictObject({ type: z.literal('disabled') }),
  z.strictObject({ type: z.literal('between_tools') }),
])

const countSchema = z.strictObject({
  model: z.string(),
  messages: z.array(anyMessage).min(1),
  system: z.union([z.string(), z.array(textBlock)]).optional(),
  tools: z.array(tool).optional(),
  tool_choice: z
    .strictObject({
      type: z.enum(['auto', 'any', 'tool', 'none']),
      name: z.string().optional(),
      disable_parallel_tool_use: z.boolean().optional(),
    })
    .optional(),
  thinking: thinkingMode.optional(),
  output_config: z
    .strictObject({
      effort: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).nullish(),
      format: z.strictObject({ type: z.literal('json_schema'), schema }).nullish(),
    })
    .optional(),
  cache_control: cacheControl.nullish(),
  context_management: z.looseObject({}).nullish(),
  mcp_servers: z.array(z.unknown()).optional(),
})

const requestSchema = countSchema.extend({
  max_tokens: z.int().positive(),
  stream: z.boolean().optional(),
  stop_sequences: z.array(z.string().regex(/\S/, 'must contain non-whitespace')).optional(),
  temperature: z.number().min(0).max(1).optional(),
  top_p: z.number().min(0).max(1).optional(),
  top_k: z.int().min(0).optional(),
  metadata: z.strictObject({ user_id: z.string().max(512).nullish() }).optional(),
  container: z.unknown().optional(),
  diagnostics: z.unknown().optional(),
  inference_geo: z.string().nullish(),
  service_tier: z.enum(['auto', 'standard_only']).optional(),
  speed: z.string().nullish(),
})

type MessagesRequest = z.infer<typeof requestSchema>
type Message = MessagesRequest['messages'][number]
type AssistantBlock = z.infer<typeof assistantBlock>

function countReply(body: unknown): Reply {
  const { model } = parseBody(countSchema, body, dottedPath)
  readScenario(model)
  return { kind: 'whole', model, body: { input_tokens: countTokens(JSON.stringify(body)) } }
}

function checkRequest(request: MessagesRequest): void {
  const { tools = [], tool_choice: choice, thinking: mode, max_tokens, temperature } = request
  for (const [index, { type, input_schema: given, strict }] of tools.entries()) {
    if (type && type !== 'custom') continue
    check(given?.type === 'object', `tools.${index}.custom.input_schema.type: Field required`)
    const problem = findSchemaProblem(given, { isClosed: strict === true })
    check(
      problem === undefined,
      `tools.${index}.custom.input_schema: JSON schema is invalid: ${problem}`,
    )
  }
  const names = tools.map(({ name }) => name)
  check(new Set(names).size === names.length, 'tools: Tool names must be unique.')
  check(
    !choice || choice.type === 'none' || tools.length > 0,
    'tool_choice: may only be specified while providing tools',
  )
  if (choice?.type === 'tool')
    check(
      names.includes(choice.name ?? ''),
      `tool_choice: Tool '${choice.name}' not found in provided tools`,
    )
  const thinks = mode?.type === 'enabled' || mode?.type === 'adaptive'
  check(
    !thinks || choice?.type === undefined || choice.type === 'auto' || choice.type === 'none',
    'Thinking may not be enabled when tool_choice forces tool use.',
  )
  check(
    !thinks || temperature === undefined || temperature === 1,
    '`temperature` may only be set to 1 when thinking is enabled.',
  )
  check(
    mode?.type !== 'enabled' || mode.budget_tokens < max_tokens,
    '`max_tokens` must be greater than `thinking.budget_tokens`.',
  )
  const format = request.output_config?.format
  const problem = format ? findSchemaProblem(format.schema, { isClosed: true }) : undefined
  check(problem === undefined, `output_config.format.schema: ${problem}`)
  const marks = JSON.stringify(request).match(/"cache_control":\{/g)?.length ?? 0
  check(marks <= 4, `A maximum of 4 blocks with cache_control may be provided. Found ${marks}.`)
}

function readConversation(request: MessagesRequest): Conversation {
  const { messages, tools = [], tool_choice: choice, thinking: mode } = request
  check(messages[0]?.role !== 'assistant', 'messages: first message must use the "user" role')
  const last = messages.at(-1)
  if (last?.role === 'assistant') {
    const text = typeof last.content === 'string' ? last.content : lastText(last.content)
    check(
      !/\s$/.test(text),
      'messages: final assistant content cannot end with trailing whitespace',
    )
  }
  const thinks = mode?.type === 'enabled' || mode?.type === 'adaptive'
  for (const [index, each] of messages.entries()) {
    if (each.role === 'assistant' && typeof each.content !== 'string')
      checkThinking(each.content, `messages.${index}`)
    if (each.role === 'user' && typeof each.content !== 'string') checkOrder(each.content, index)
  }
  if (mode?.type === 'enabled') checkLoop(messages)
  const turns = mergeTurns(messages.flatMap(toTurn))
  checkPairs(turns)
  return {
    turns,
    tools: tools.map(({ name, input_schema }) => ({ name, schema: input_schema ?? {} })),
    choice: choice?.type === 'tool' ? { name: choice.name ?? '' } : (choice?.type ?? 'auto'),
    format: request.output_config?.format?.schema,
    thinks,
  }
}

function lastText(blocks: readonly AssistantBlock[]): string {
  const last = blocks.at(-1)
  return last?.type === 'text' ? last.text : ''
}

function checkThinking(blocks: readonly AssistantBlock[], path: string): void {
  for (const [index, block] of blocks.entries()) {
    const isIntact =
      (block.type !== 'thinking' || verifyText(block.thinking, block.signature)) &&
      (block.type !== 'redacted_thinking' || verifyText('redacted', block.data))
    check(isIntact, `${path}.content.${index}: Invalid \`signature\` in \`thinking\` block`)
  }
}

function checkOrder(blocks: readonly { readonly type: string }[], index: number): void {
  const firstOther = blocks.findIndex(({ type }) => type !== 'tool_result')
  const lastResult = blocks.findLastIndex(({ type }) => type === 'tool_result')
  check(
    firstOther < 0 || lastResult < firstOther,
    `messages.${index}: tool_result blocks must come first`,
  )
}

/** While a tool loop runs, the turn that it answers must begin with its thinking. */
function checkLoop(messages: readonly Message[]): void {
  const index = messages.findLastIndex(({ role }) => role === 'assistant')
  const content = messages[index]?.content
  if (typeof content !== 'object' || !content.some(({ type }) => type === 'tool_use')) return
  if (messages.slice(index + 1).some(({ content: after }) => typeof after === 'string')) return
  const found = content[0]?.type
  check(
    found === 'thinking' || found === 'redacted_thinking',
    `messages.${index}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${found}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block.`,
  )
}

function checkPairs(turns: readonly Turn[]): void {
  const mismatch = findMismatch(turns)
  if (!mismatch) return
  const { turn, unanswered, unknown } = mismatch
  throw new Refusal(
    400,
    unanswered.length > 0
      ? `messages.${turn}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${unanswered.join(', ')}.`
      : `messages.${turn}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${unknown.join(', ')}.`,
  )
}

function toTurn({ role, content }: Message): Turn[] {
  if (role === 'system') return []
  const blocks = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content
  const text = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
  if (role === 'assistant') {
    const calls = blocks.flatMap((block) => (block.type === 'tool_use' ? [block] : []))
    return [{ role: 'model', text, calls }]
  }
  const results = blocks.flatMap((block) =>
    block.type === 'tool_result' ? [{ id: block.tool_use_id, text: resultText(block) }] : [],
  )
  return [{ role: 'user', text, results }]
}

function resultText({ content = '' }: z.infer<typeof toolResult>): string {
  if (typeof content === 'string') return content
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('')
}

function wholeReply({ model }: MessagesRequest, given: Answer): Reply {
  const body = {
    ...newMessage(model),
    content: given.parts.map(toBlock),
    stop_reason: toStop(given),
    usage: { ...toUsage(given), service_tier: 'standard' },
  }
  return { kind: 'whole', model, body }
}

function streamReply({ model }: MessagesRequest, given: Answer): Reply {
  const frame = (type: string, fields: object) => sseFrame({ type, ...fields }, type)
  const usage = toUsage(given)
  const frames = [
    frame('message_start', {
      message: { ...newMessage(model), content: [], usage: { ...usage, output_tokens: 1 } },
    }),
    frame('ping', {}),
    ...given.parts.flatMap((part, index) => [
      frame('content_block_start', { index, content_block: toOpenBlock(part) }),
      ...toDeltas(part).map((delta) => frame('content_block_delta', { index, delta })),
      frame('content_block_stop', { index }),
    ]),
    frame('message_delta', {
      delta: { stop_reason: toStop(given), stop_sequence: null },
      usage: { output_tokens: usage.output_tokens },
    }),
    frame('message_stop', {}),
  ]
  return { kind: 'stream', model, contentType: 'text/event-stream; charset=utf-8', frames }
}

function toBlock(part: Part): object {
  switch (part.kind) {
    case 'reasoning':
      return { type: 'thinking', thinking: part.text, signature: signText(part.text) }
    case 'text':
      return { type: 'text', text: part.text }
    case 'call':
      return { type: 'tool_use', id: toId(part), name: part.name, input: part.input }
    default:
      return part satisfies never
  }
}

function toOpenBlock(part: Part): object {
  switch (part.kind) {
    case 'reasoning':
      return { type: 'thinking', thinking: '', signature: '' }
    case 'text':
      return { type: 'text', text: '' }
    case 'call':
      return { type: 'tool_use', id: toId(part), name: part.name, input: {} }
    default:
      return part satisfies never
  }
}

function toDeltas(part: Part): object[] {
  switch (part.kind) {
    case 'reasoning':
      return [
        ...splitText(part.text).map((thinking) => ({ type: 'thinking_delta', thinking })),
        { type: 'signature_delta', signature: signText(part.text) },
      ]
    case 'text':
      return splitText(part.text).map((text) => ({ type: 'text_delta', text }))
    case 'call':
      return ['', ...splitJson(part.input)].map((piece) => ({
        type: 'input_json_delta',
        partial_json: piece,
      }))
    default:
      return part satisfies never
  }
}

function toId({ id }: { readonly id: string }): string {
  return id.replace('call_', 'toolu_')
}

function toStop(given: Answer): string {
  return hasCalls(given) ? 'tool_use' : 'end_turn'
}

function toUsage({ usage }: Answer) {
  return {
    input_tokens: usage.input,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: usage.output,
  }
}

function newMessage(model: string): object {
  return {
    id: `msg_${randomUUID().replaceAll('-', '')}`,
    type: 'message',
    role: 'assistant',
    model,
    stop_reason: null,
    stop_sequence: null,
  }
}
