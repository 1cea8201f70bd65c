import { EventStreamCodec } from '@smithy/eventstream-codec'
import { z } from 'zod'
import {
  type Answer,
  type Conversation,
  findMismatch,
  hasCalls,
  type Part,
  type Turn,
} from './conversation.ts'
import { type Dialect, dottedPath, parseBody, type Reply, upstreamKey } from './dialect.ts'
import { findSchemaProblem, type JsonSchema } from './json-schema.ts'
import { splitJson, splitText } from './parts.ts'
import { signText, verifyText } from './proofs.ts'
import { check, Refusal } from './refusal.ts'
import { answer, readScenario } from './scenario.ts'

/** Converse: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html */
export const bedrock: Dialect = {
  handle({ path, headers, body }) {
    const [, segment = '', operation] =
      /^\/model\/([^/]+)\/(converse|converse-stream)$/.exec(path) ?? []
    if (!operation) throw new Refusal(404, `unknown path ${path}`)
    if (headers.get('authorization') !== `Bearer ${upstreamKey}`)
      throw new Refusal(403, 'The security token included in the request is invalid.')
    const model = decodeURIComponent(segment)
    const request = parseBody(requestSchema, body, dottedPath)
    const scenario = readScenario(model)
    checkTools(request)
    const given = answer(scenario, readConversation(request))
    return operation === 'converse' ? wholeReply(model, given) : streamReply(model, given)
  },

  refuse({ status, message, retryAfter }) {
    return {
      status,
      headers: {
        'x-amzn-errortype': errorTypes[status] ?? 'InternalServerException',
        ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
      },
      body: { message },
    }
  },
}

const errorTypes: Readonly<Record<number, string>> = {
  400: 'ValidationException',
  403: 'AccessDeniedException',
  404: 'ResourceNotFoundException',
  429: 'ThrottlingException',
  503: 'ServiceUnavailableException',
}

const text = z.string().regex(/\S/, 'the text field in the ContentBlock object is blank')
const toolId = z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/)
const json = z.record(z.string(), z.unknown())
const source = z.strictObject({ bytes: z.base64() })

const image = z.strictObject({ format: z.enum(['png', 'jpeg', 'gif', 'webp']), source })
const document = z.strictObject({ format: z.string(), name: z.string(), source })

const cachePoint = z.strictObject({ type: z.literal('default'), ttl: z.string().optional() })

const resultBlock = z.strictObject({ text, json, image, document }).partial()

const block = z
  .strictObject({
    text,
    image,
    document,
    cachePoint,
    toolUse: z.strictObject({
      toolUseId: toolId,
      name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/),
      input: json,
    }),
    toolResult: z.strictObject({
      toolUseId: toolId,
      content: z.array(resultBlock),
      status: z.enum(['success', 'error']).optional(),
    }),
    reasoningContent: z
      .strictObject({
        reasoningText: z.strictObject({ text: z.string(), signature: z.string().optional() }),
        redactedContent: z.base64(),
      })
      .partial(),
  })
  .partial()
  .refine((value) => Object.keys(value).length === 1, 'a ContentBlock has exactly one member')

const schema = z.custom<JsonSchema>((value) => typeof value === 'object' && value !== null)

const toolSpec = z.strictObject({
  name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/),
  description: z.string().min(1).optional(),
  inputSchema: z.strictObject({ json: schema }),
  strict: z.boolean().optional(),
})

const requestSchema = z.strictObject({
  messages: z
    .array(z.strictObject({ role: z.enum(['user', 'assistant']), content: z.array(block).min(1) }))
    .min(1),
  system: z.array(z.strictObject({ text, cachePoint }).partial()).min(1).optional(),
  inferenceConfig: z
    .strictObject({
      maxTokens: z.int().positive(),
      temperature: z.number().min(0).max(1),
      topP: z.number().min(0).max(1),
      stopSequences: z.array(z.string().min(1)).min(1),
    })
    .partial()
    .optional(),
  toolConfig: z
    .strictObject({
      tools: z.array(z.strictObject({ toolSpec, cachePoint }).partial()).min(1),
      toolChoice: z
        .strictObject({
          auto: z.strictObject({}),
          any: z.strictObject({}),
          tool: z.strictObject({ name: z.string() }),
        })
        .partial()
        .optional(),
    })
    .optional(),
  additionalModelRequestFields: z
    .looseObject({ thinking: z.looseObject({ type: z.string() }).optional() })
    .optional(),
  outputConfig: z
    .strictObject({
      textFormat: z.strictObject({
        type: z.literal('json_schema'),
        structure: z.strictObject({
          jsonSchema: z.strictObject({
            schema: z.string(),
            name: z.string().optional(),
            description: z.string().optional(),
          }),
        }),
      }),
    })
    .optional(),
  serviceTier: z.strictObject({ type: z.string() }).optional(),
  requestMetadata: z.record(z.string(), z.string()).optional(),
  performanceConfig: z.strictObject({ latency: z.string() }).optional(),
})

type ConverseRequest = z.infer<typeof requestSchema>
type Message = ConverseRequest['messages'][number]

function checkTools({ toolConfig, messages }: ConverseRequest): void {
  const blocks = messages.flatMap(({ content }) => content)
  check(
    toolConfig !== undefined || !blocks.some(({ toolUse, toolResult }) => toolUse ?? toolResult),
    'The toolConfig field must be defined when using toolUse and toolResult content blocks.',
  )
  const specs = (toolConfig?.tools ?? []).flatMap((each) => each.toolSpec ?? [])
  for (const { name, inputSchema } of specs) {
    check(
      inputSchema.json.type === 'object',
      `toolSpec ${name}: inputSchema.json.type must be one of: object`,
    )
    const problem = findSchemaProblem(inputSchema.json)
    check(problem === undefined, `toolSpec ${name}: inputSchema.json: ${problem}`)
  }
  const names = specs.map(({ name }) => name)
  check(new Set(names).size === names.length, 'toolConfig: the names of tools must be unique')
  const wanted = toolConfig?.toolChoice?.tool?.name
  check(wanted === undefined || names.includes(wanted), `toolChoice: no tool is named ${wanted}`)
}

function readConversation(request: ConverseRequest): Conversation {
  const { messages, toolConfig, additionalModelRequestFields, outputConfig } = request
  check(
    messages[0]?.role === 'user',
    'A conversation must start with a user message. Try again with a conversation that starts with a user message.',
  )
  for (const [index, { role, content }] of messages.entries()) {
    check(
      messages[index - 1]?.role !== role,
      'A conversation must alternate between user and assistant roles. Make sure the conversation alternates between user and assistant roles and try again.',
    )
    checkReasoning(content, index)
  }
  const type = additionalModelRequestFields?.thinking?.type
  if (type === 'enabled') checkLoop(messages)
  const turns = messages.map(toTurn)
  checkPairs(turns)
  const { any, tool } = toolConfig?.toolChoice ?? {}
  const format = outputConfig?.textFormat.structure.jsonSchema.schema
  return {
    turns,
    tools: (toolConfig?.tools ?? []).flatMap(({ toolSpec: spec }) =>
      spec ? [{ name: spec.name, schema: spec.inputSchema.json }] : [],
    ),
    choice: tool ?? (any ? 'any' : 'auto'),
    format: format === undefined ? undefined : parseFormat(format),
    thinks: type === 'enabled' || type === 'adaptive',
  }
}

function parseFormat(format: string): JsonSchema {
  const parsed: unknown = JSON.parse(format)
  const problem = findSchemaProblem(parsed, { isClosed: true })
  check(problem === undefined, `outputConfig.textFormat.structure.jsonSchema.schema: ${problem}`)
  return schema.parse(parsed)
}

function checkReasoning(content: Message['content'], index: number): void {
  for (const [at, { reasoningContent }] of content.entries()) {
    const { reasoningText } = reasoningContent ?? {}
    if (!reasoningText) continue
    const isIntact = verifyText(reasoningText.text, reasoningText.signature ?? '')
    check(isIntact, `messages.${index}.content.${at}: Invalid \`signature\` in \`thinking\` block`)
  }
}

/** While a tool loop runs, the turn that it answers must begin with its thinking. */
function checkLoop(messages: readonly Message[]): void {
  const [answered, results] = messages.slice(-2)
  if (!results?.content.some(({ toolResult }) => toolResult)) return
  check(
    answered?.content[0]?.reasoningContent !== undefined,
    `messages.${messages.length - 2}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found another block. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block.`,
  )
}

function checkPairs(turns: readonly Turn[]): void {
  const mismatch = findMismatch(turns)
  if (!mismatch) return
  const { turn, unanswered, unknown } = mismatch
  throw new Refusal(
    400,
    unanswered.length > 0
      ? `Expected toolResult blocks at messages.${turn + 1}.content for the following Ids: ${unanswered.join(', ')}`
      : `The number of toolResult blocks at messages.${turn}.content exceeds the number of toolUse blocks of previous turn: ${unknown.join(', ')}.`,
  )
}

function toTurn({ role, content }: Message): Turn {
  const texts = content.flatMap((each) => each.text ?? []).join('\n')
  if (role === 'assistant') {
    const calls = content.flatMap(({ toolUse: use }) =>
      use ? [{ id: use.toolUseId, name: use.name, input: use.input }] : [],
    )
    return { role: 'model', text: texts, calls }
  }
  const results = content.flatMap(({ toolResult: result }) =>
    result
      ? [{ id: result.toolUseId, text: result.content.map((each) => each.text ?? '').join('') }]
      : [],
  )
  return { role, text: texts, results }
}

function wholeReply(model: string, given: Answer): Reply {
  const body = {
    output: { message: { role: 'assistant', content: given.parts.map(toBlock) } },
    stopReason: toStop(given),
    usage: toUsage(given),
    metrics: { latencyMs: 12 },
  }
  return { kind: 'whole', model, body }
}

function streamReply(model: string, given: Answer): Reply {
  const frames = [
    frame('messageStart', { role: 'assistant' }),
    ...given.parts.flatMap((part, contentBlockIndex) => [
      ...(part.kind === 'call'
        ? [
            frame('contentBlockStart', {
              contentBlockIndex,
              start: { toolUse: { toolUseId: toId(part), name: part.name } },
            }),
          ]
        : []),
      ...toDeltas(part).map((delta) => frame('contentBlockDelta', { contentBlockIndex, delta })),
      frame('contentBlockStop', { contentBlockIndex }),
    ]),
    frame('messageStop', { stopReason: toStop(given) }),
    frame('metadata', { usage: toUsage(given), metrics: { latencyMs: 12 } }),
  ]
  return { kind: 'stream', model, contentType: 'application/vnd.amazon.eventstream', frames }
}

const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes).toString('utf8'),
  (value) => Buffer.from(value, 'utf8'),
)

function frame(type: string, body: object): Uint8Array {
  const header = (value: string) => ({ type: 'string' as const, value })
  return codec.encode({
    headers: {
      ':message-type': header('event'),
      ':event-type': header(type),
      ':content-type': header('application/json'),
    },
    body: Buffer.from(JSON.stringify(body)),
  })
}

function toBlock(part: Part): object {
  switch (part.kind) {
    case 'reasoning': {
      const reasoningText = { text: part.text, signature: signText(part.text) }
      return { reasoningContent: { reasoningText } }
    }
    case 'text':
      return { text: part.text }
    case 'call':
      return { toolUse: { toolUseId: toId(part), name: part.name, input: part.input } }
    default:
      return part satisfies never
  }
}

function toDeltas(part: Part): object[] {
  switch (part.kind) {
    case 'reasoning':
      return [
        ...splitText(part.text).map((piece) => ({ reasoningContent: { text: piece } })),
        { reasoningContent: { signature: signText(part.text) } },
      ]
    case 'text':
      return splitText(part.text).map((piece) => ({ text: piece }))
    case 'call':
      return splitJson(part.input).map((input) => ({ toolUse: { input } }))
    default:
      return part satisfies never
  }
}

function toId({ id }: { readonly id: string }): string {
  return id.replace('call_', 'tooluse_')
}

function toStop(given: Answer): string {
  return hasCalls(given) ? 'tool_use' : 'end_turn'
}

function toUsage({ usage }: Answer): object {
  return {
    inputTokens: usage.input,
    outputTokens: usage.output,
    totalTokens: usage.input + usage.output,
  }
}
