import { z } from 'zod'
import type { JsonSchema } from '../json-schema.ts'

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
  function: z.strictObject({
    name: functionName,
    arguments: z.string(),
    parsed_arguments: z.unknown().optional(),
  }),
})

const texts = z.union([z.string(), z.array(textPart).min(1)])

/** Members of an answer that clients send back with it. */
const echoed = {
  annotations: z.unknown().optional(),
  audio: z.unknown().optional(),
  parsed: z.unknown().optional(),
  reasoning_content: z.unknown().optional(),
}

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
    ...echoed,
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

/** The fields of a request. Unknown ones are refused. */
export const requestSchema = z.strictObject({
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

export type ChatRequest = z.infer<typeof requestSchema>
