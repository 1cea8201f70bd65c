import * as z from 'zod'
import { list, loose } from '../../core/as-sent.ts'

/*
 * The request of the Responses API. Native links get it as the client sent it, so only the fields that the
 * gateway itself needs are checked for every link.
 */

const head = {
  model: z.string().min(1),
  stream: z.boolean().nullish(),
  max_output_tokens: z.int().positive().nullish(),
}

/** The fields that are read for every link. */
export const responsesRequest = loose({
  ...head,
  input: z.union([z.string(), list(loose({}))]).nullish(),
})

/** The same without those that may be long. */
export const responsesHead = loose(head)

/** An item of `input`. */
export type Item = Readonly<Record<string, unknown>>
export type ResponsesRequest = z.infer<typeof responsesRequest>
export type ResponsesHead = z.infer<typeof responsesHead>

const text = z.string().nullish()
const number = z.number().nullish()
const flag = z.boolean().nullish()

const schemaFormat = loose({
  type: z.string(),
  name: text,
  description: text,
  schema: loose({}).nullish(),
  strict: flag,
})

/** The fields that a translated request is made from. */
export const translatedFields = loose({
  instructions: text,
  temperature: number,
  top_p: number,
  tools: list(loose({ type: z.string() })).nullish(),
  tool_choice: z
    .union([
      z.string(),
      loose({
        type: z.string(),
        name: text,
        namespace: text,
        mode: text,
        tools: list(loose({ type: z.string(), name: text, namespace: text })).nullish(),
      }),
    ])
    .nullish(),
  parallel_tool_calls: flag,
  text: loose({ format: schemaFormat.nullish(), verbosity: text }).nullish(),
  reasoning: loose({ effort: text }).nullish(),
  background: flag,
  prompt_cache_key: text,
  service_tier: text,
})

export type TranslatedFields = z.infer<typeof translatedFields>
export type ToolChoice = NonNullable<TranslatedFields['tool_choice']>
