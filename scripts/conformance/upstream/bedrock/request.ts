import { z } from 'zod'
import type { JsonSchema } from '../json-schema.ts'

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

/** The fields of a request. Unknown ones are refused. */
export const requestSchema = z.strictObject({
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
    .looseObject({
      thinking: z.looseObject({ type: z.string() }).optional(),
      /** Claude's own choice, which can forbid parallel calls. */
      tool_choice: z.looseObject({ type: z.string(), name: z.string().optional() }).optional(),
    })
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

export type ConverseRequest = z.infer<typeof requestSchema>
export type Message = ConverseRequest['messages'][number]
export type Block = Message['content'][number]
