import { z } from 'zod'
import type { JsonSchema } from '../json-schema.ts'
import { bytesPattern } from './names.ts'

const inlineData = z.strictObject({ mimeType: z.string(), data: z.string().regex(bytesPattern) })

const part = z
  .strictObject({
    text: z.string(),
    inlineData,
    fileData: z.strictObject({ fileUri: z.string(), mimeType: z.string().optional() }),
    functionCall: z.strictObject({
      id: z.string().optional(),
      name: z.string(),
      args: z.record(z.string(), z.unknown()).optional(),
    }),
    functionResponse: z.strictObject({
      id: z.string().optional(),
      name: z.string(),
      response: z.record(z.string(), z.unknown()),
      parts: z.array(z.strictObject({ inlineData })).optional(),
    }),
    thought: z.boolean(),
    thoughtSignature: z.string(),
  })
  .partial()

const content = z.strictObject({
  role: z.enum(['user', 'model']),
  parts: z.array(part).min(1, 'must contain at least one part'),
})

const schema = z.custom<JsonSchema>((value) => typeof value === 'object' && value !== null)

const declaration = z.strictObject({
  name: z.string().regex(/^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/),
  description: z.string().optional(),
  parameters: schema.optional(),
  parametersJsonSchema: schema.optional(),
  response: schema.optional(),
  responseJsonSchema: schema.optional(),
})

/** The fields of a request. Unknown ones are refused. */
export const requestSchema = z.strictObject({
  contents: z.array(content).min(1, 'contents is not specified'),
  systemInstruction: z
    .strictObject({ role: z.string().optional(), parts: z.array(part).min(1) })
    .optional(),
  tools: z
    .array(z.strictObject({ functionDeclarations: z.array(declaration).min(1) }))
    .min(1)
    .optional(),
  toolConfig: z
    .strictObject({
      functionCallingConfig: z.strictObject({
        mode: z.enum(['AUTO', 'ANY', 'NONE', 'VALIDATED']).optional(),
        allowedFunctionNames: z.array(z.string()).min(1).optional(),
      }),
    })
    .optional(),
  generationConfig: z
    .strictObject({
      temperature: z.number().min(0).max(2),
      topP: z.number().min(0).max(1),
      topK: z.int(),
      candidateCount: z.literal(1),
      maxOutputTokens: z.int().positive(),
      stopSequences: z.array(z.string()).max(5),
      seed: z.int32(),
      responseMimeType: z.enum(['text/plain', 'application/json']),
      responseSchema: schema,
      responseJsonSchema: schema,
      responseModalities: z.array(z.string()),
      responseLogprobs: z.boolean(),
      logprobs: z.int(),
      thinkingConfig: z
        .strictObject({
          includeThoughts: z.boolean(),
          thinkingBudget: z.int(),
          thinkingLevel: z.string(),
        })
        .partial(),
    })
    .partial()
    .optional(),
  safetySettings: z.array(z.unknown()).optional(),
  serviceTier: z.enum(['standard', 'flex', 'priority']).optional(),
})

/** https://ai.google.dev/api/embeddings#method:-models.batchembedcontents */
export const embedBatchSchema = z.strictObject({
  requests: z
    .array(
      z.strictObject({
        model: z.string(),
        content: z.strictObject({ role: z.string().optional(), parts: z.array(part).min(1) }),
        taskType: z.string().optional(),
        title: z.string().optional(),
        outputDimensionality: z.int().positive().optional(),
      }),
    )
    .min(1)
    .max(100),
})

export type GeminiRequest = z.infer<typeof requestSchema>
export type Content = GeminiRequest['contents'][number]
