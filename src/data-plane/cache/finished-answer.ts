import * as z from 'zod'
import type { Api } from '../../core/capability.ts'
import type { BufferedBody } from '../../core/ports.ts'
import { tryParseJson } from '../../wire/json/parse.ts'

/** Each choice has given its reason to end. */
const choices = z.looseObject({
  choices: z.array(z.looseObject({ finish_reason: z.string() })).min(1),
})

/** The answers of each API that are finished. Vectors, rankings and decisions always are. */
const finished: Readonly<Record<Api, z.ZodType | undefined>> = {
  chat: choices,
  completions: choices,
  messages: z.looseObject({ stop_reason: z.string() }),
  responses: z.looseObject({ status: z.enum(['completed', 'incomplete']) }),
  gemini: z.looseObject({
    candidates: z.array(z.looseObject({ finishReason: z.string() })).min(1),
  }),
  embeddings: undefined,
  rerank: undefined,
  decisions: undefined,
}

/** True for an answer whose output has come to its end. The body is a whole answer with status 200. */
export function isFinishedAnswer(api: Api, body: BufferedBody): boolean {
  const schema = finished[api]
  if (!schema) return true
  const text = typeof body === 'string' ? body : decoder.decode(body)
  return schema.safeParse(tryParseJson(text)).success
}

const decoder = new TextDecoder()
