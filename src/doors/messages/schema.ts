import * as z from 'zod'
import { list, loose, validateAsSent } from '../../core/as-sent.ts'
import { invalidField, untranslatableField } from '../../core/invalid-field.ts'
import { isObject } from '../../wire/json/parse.ts'

/*
 * The fields of a Messages request that the gateway reads. All others reach upstreams of this API
 * unchanged. Members of blocks are checked only where a block is translated: a vendor may add types.
 * https://platform.claude.com/docs/en/api/messages
 */

const text = z.string().nullish()
const number = z.number().nullish()

const block = loose({ type: z.string(), text })
const content = z.union([z.string(), list(block)])

/** A block of content, of any type. */
export type Block = z.infer<typeof block>
export type Content = z.infer<typeof content>

const message = loose({ role: z.string(), content })

const tool = loose({
  type: text,
  name: text,
  description: text,
  strict: z.boolean().nullish(),
})

export type Tool = z.infer<typeof tool>

const toolChoice = loose({
  type: z.string(),
  name: text,
  disable_parallel_tool_use: z.boolean().nullish(),
})

const model = z.string().min(1)
const stream = z.boolean().nullish()
const maxTokens = z.int().nonnegative()

const format = loose({ type: z.string() }).nullish()

const options = {
  tool_choice: toolChoice.nullish(),
  thinking: loose({ type: z.string(), budget_tokens: number }).nullish(),
  output_config: loose({ effort: text, format }).nullish(),
  // The form of `output_config.format` before it left its beta, which SDKs of 2025 send.
  // https://platform.claude.com/docs/en/build-with-claude/structured-outputs
  output_format: format,
  stop_sequences: list(z.string()).nullish(),
  thread: loose({ type: z.string() }).nullish(),
  temperature: number,
  top_p: number,
  top_k: number,
}

/** The members that a request to generate and a request to count have in common. */
const shared = {
  model,
  messages: list(message, 1),
  system: content.nullish(),
  stream,
  tools: list(tool).nullish(),
  ...options,
}

const generation = loose({ ...shared, max_tokens: maxTokens })
const counting = loose({ ...shared, max_tokens: maxTokens.nullish() })

const head = { model, stream, ...options }

/** A request to generate, or to count, without the members that may be long. */
export const messagesHead = loose({ ...head, max_tokens: maxTokens })
export const countHead = loose({ ...head, max_tokens: maxTokens.nullish() })

export type MessagesHead = z.infer<typeof messagesHead>
export type CountHead = z.infer<typeof countHead>

/** A request of `POST /v1/messages`. */
export type MessagesRequest = z.infer<typeof generation>
/** A request of `POST /v1/messages/count_tokens`, which needs no `max_tokens`. */
export type CountRequest = z.infer<typeof counting>

/** Checks a request to generate; LM-1001 with the field at fault. */
export function checkMessagesRequest(value: unknown): MessagesRequest {
  const read = validateAsSent(generation, value)
  if (!read.success) throw invalidField(read.error)
  return read.data
}

/** Checks a request to count; LM-1001 with the field at fault. */
export function checkCountRequest(value: unknown): CountRequest {
  const read = validateAsSent(counting, value)
  if (!read.success) throw invalidField(read.error)
  return read.data
}

const source = loose({
  type: z.string(),
  media_type: text,
  data: text,
  url: text,
  file_id: text,
  content: content.nullish(),
})

/** Where the data of an image or a document is. */
export type MediaSource = z.infer<typeof source>

const jsonObject = z.custom<Readonly<Record<string, unknown>>>(isObject, 'must be an object')

/** The `output_config` of a system message inside the conversation. */
export const messageOutputConfig = loose({ effort: text })

/** The schemas of the blocks that are translated. */
export const blockSchemas = {
  image: loose({ source }),
  document: loose({ source, title: text, context: text }),
  search_result: loose({ source: text, title: text, content: content.nullish() }),
  tool_use: loose({ id: z.string(), name: z.string(), input: jsonObject.nullish() }),
  tool_result: loose({
    tool_use_id: z.string(),
    content: content.nullish(),
    is_error: z.boolean().nullish(),
  }),
  tool_reference: loose({ tool_name: z.string() }),
  mid_conv_system: loose({ content }),
  thinking: loose({ thinking: text, signature: text }),
} as const

/** The schema of a tool that the conversation defines. */
export const toolDefinition = tool
/** The schema of a function tool's parameters. */
export const inputSchema = jsonObject
/** The schema of a format for the answer. */
export const jsonFormat = loose({ schema: jsonObject.nullish() })

/** Checks a value that is to be translated. Throws `UntranslatableError` with the field at fault. */
export function checkPart<Value>(schema: z.ZodType<Value>, value: unknown, path: string): Value {
  const read = validateAsSent(schema, value)
  if (!read.success) throw untranslatableField(read.error, path)
  return read.data
}
