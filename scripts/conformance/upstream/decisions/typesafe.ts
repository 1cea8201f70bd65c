import { z } from 'zod'
import { type Dialect, dottedPath, parseBody, upstreamKey, type WholeReply } from '../dialect.ts'
import { Refusal } from '../refusal.ts'
import { countTokens, failAsScripted, readScenario } from '../scenario.ts'
import { likely } from './openai.ts'

const entry = z.union([
  z.string(),
  z.record(z.string(), z.unknown()),
  z.array(z.unknown()),
  z.null(),
])

const question = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('noul'),
    instructions: entry.optional(),
    criteria: z.strictObject({ true: entry.optional(), false: entry.optional() }).nullish(),
  }),
  z.strictObject({
    type: z.literal('choice'),
    instructions: entry.optional(),
    criteria: z.record(z.string(), entry),
  }),
  z.strictObject({
    type: z.literal('score'),
    instructions: entry.optional(),
    criteria: z.array(entry).min(2).max(10),
  }),
])

/** https://docs.typesafe.ai */
const requestSchema = z.strictObject({
  model: z.string(),
  state: entry,
  questions: z
    .record(z.string(), question)
    .refine((given) => Object.keys(given).length > 0, 'must not be empty'),
  images: z.array(z.string().startsWith('data:image/')).optional(),
})

/** Decisions in the form of TypeSafe, at one path. */
export function typesafeDialect(servedPath: string): Dialect {
  return {
    handle({ path, headers, body }) {
      if (path !== servedPath) throw new Refusal(404, `unknown path ${path}`)
      if (headers.get('authorization') !== `Bearer ${upstreamKey}`)
        throw new Refusal(401, 'invalid API key')
      return decide(body)
    },
    refuse: ({ status, message, retryAfter }) => ({
      status: status === 400 ? 422 : status,
      ...(retryAfter !== undefined && { headers: { 'retry-after': String(retryAfter) } }),
      body: { detail: message },
    }),
  }
}

function decide(body: unknown): WholeReply {
  const { model, state, questions } = parseBody(requestSchema, body, dottedPath)
  failAsScripted(readScenario(model))
  const names = Object.entries(questions)
  return {
    kind: 'whole',
    model,
    body: {
      model,
      answers: Object.fromEntries(names.map(([name, asked]) => [name, answerQuestion(asked)])),
      usage: {
        input_tokens: countTokens(JSON.stringify(state) + JSON.stringify(questions)),
        output_tokens: names.length,
      },
    },
  }
}

function answerQuestion(asked: z.infer<typeof question>): object {
  const { type } = asked
  switch (asked.type) {
    case 'noul':
      return { type, noul: 0.97 }
    case 'choice': {
      const labels = Object.keys(asked.criteria)
      const probabilities = Object.fromEntries(labels.map((label, at) => [label, likely(at)]))
      return { type, choice: labels[0], confidence: 0.94, probabilities }
    }
    case 'score':
      return {
        type,
        score: 0.03,
        confidence: 0.94,
        legend: { ...asked.criteria },
        probabilities: Object.fromEntries(asked.criteria.map((_, at) => [at, likely(at)])),
      }
    default:
      return asked satisfies never
  }
}
