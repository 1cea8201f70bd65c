import { z } from 'zod'
import type { JsonSchema } from '../json-schema.ts'

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

/** The fields that counting takes: https://platform.claude.com/docs/en/api/messages-count-tokens */
export const countSchema = z.strictObject({
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

/** The fields of a request. Unknown ones are refused. */
export const requestSchema = countSchema.extend({
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
  thread: z
    .discriminatedUnion('type', [
      z.strictObject({ type: z.literal('create') }),
      z.strictObject({ type: z.literal('continue'), previous_message_id: z.string() }),
    ])
    .optional(),
})

export type MessagesRequest = z.infer<typeof requestSchema>
export type Message = MessagesRequest['messages'][number]
export type AssistantBlock = z.infer<typeof assistantBlock>
export type ToolResult = z.infer<typeof toolResult>
