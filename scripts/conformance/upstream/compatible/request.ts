import { z } from 'zod'
import type { JsonSchema } from '../json-schema.ts'

/*
 * A body as servers of the OpenAI format parse it: what they read has a type, the rest is passed over. The rules
 * of an upstream decide what else it refuses.
 */

const call = z.looseObject({
  id: z.string(),
  function: z.looseObject({ name: z.string(), arguments: z.string() }),
})

const part = z.looseObject({ type: z.string(), text: z.string().optional() })

const message = z.looseObject({
  role: z.string(),
  content: z.union([z.string(), z.array(part)]).nullish(),
  tool_call_id: z.string().optional(),
  tool_calls: z.array(call).nullish(),
})

const schema = z.custom<JsonSchema>((value) => typeof value === 'object' && value !== null)

const tool = z.looseObject({
  type: z.string(),
  function: z.looseObject({ name: z.string(), parameters: schema.optional() }),
})

export const bodySchema = z.looseObject({
  model: z.string(),
  messages: z.array(message),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().optional() }).nullish(),
  tools: z.array(tool).nullish(),
  tool_choice: z
    .union([z.string(), z.looseObject({ function: z.looseObject({ name: z.string() }) })])
    .nullish(),
  response_format: z
    .looseObject({
      type: z.string(),
      json_schema: z.looseObject({ schema: schema.optional() }).optional(),
    })
    .nullish(),
})

export type Body = z.infer<typeof bodySchema>
export type Message = Body['messages'][number]
export type Call = NonNullable<Message['tool_calls']>[number]
