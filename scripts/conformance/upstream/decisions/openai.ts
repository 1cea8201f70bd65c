import { z } from 'zod'
import { bracketedPath, parseBody, type WholeReply } from '../dialect.ts'
import { check } from '../refusal.ts'
import { countTokens, failAsScripted, readScenario } from '../scenario.ts'

const part = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('input_text'), text: z.string() }),
  z.strictObject({
    type: z.literal('input_image'),
    image_url: z.string().regex(/^(?:data:image\/|https:\/\/)/),
    detail: z.enum(['low', 'high', 'auto', 'original']).nullish(),
  }),
  z.strictObject({
    type: z.literal('input_json'),
    data: z.union([z.record(z.string(), z.unknown()), z.array(z.unknown())]),
  }),
])
const texts = z.union([z.string(), z.array(part)])

const instructions = texts
const name = z.string().nullish()
const question = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('predicate'), name, instructions }),
  z.strictObject({
    type: z.literal('choice'),
    name,
    instructions,
    choices: z
      .array(
        z.strictObject({
          value: z.union([z.string(), z.boolean()]),
          description: z.string().nullish(),
        }),
      )
      .min(2)
      .max(255),
  }),
  z.strictObject({
    type: z.literal('score'),
    name,
    instructions,
    levels: z
      .array(z.strictObject({ label: z.string(), description: z.string().nullish() }))
      .min(2)
      .max(10),
  }),
])

/** https://platform.openai.com/docs/api-reference/decisions/create */
const requestSchema = z.strictObject({
  model: z.string(),
  input: z.union([
    z.string(),
    z.array(
      z.strictObject({
        type: z.literal('message').optional(),
        role: z.enum(['user', 'developer', 'system']),
        content: texts,
      }),
    ),
  ]),
  questions: z.array(question).min(1).max(400),
  prompt_cache_key: z.string().nullish(),
  safety_identifier: z.string().max(128).nullish(),
})

/** Answers decisions in the form of OpenAI: the first option of each question is the likely one. */
export function decideAsOpenAi(body: unknown): WholeReply {
  const { model, input, questions } = parseBody(requestSchema, body, bracketedPath)
  failAsScripted(readScenario(model))
  for (const one of questions) {
    if (one.type !== 'choice') continue
    const values = one.choices.map(({ value }) => JSON.stringify(value))
    check(new Set(values).size === values.length, 'questions: the values must be unique')
  }
  const usage = countTokens(JSON.stringify(input) + JSON.stringify(questions))
  return {
    kind: 'whole',
    model,
    body: {
      model,
      answers: questions.map(answerQuestion),
      usage: {
        input_tokens: usage,
        input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
        output_tokens: questions.length,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: usage + questions.length,
      },
    },
  }
}

function answerQuestion(asked: z.infer<typeof question>): object {
  const { type, name: given = null } = asked
  switch (asked.type) {
    case 'predicate':
      return { type, name: given, probability: 0.97 }
    case 'choice':
      return {
        type,
        name: given,
        choice: asked.choices[0]?.value,
        confidence: 0.94,
        probabilities: asked.choices.map(({ value }, at) => ({ value, probability: likely(at) })),
      }
    case 'score':
      return {
        type,
        name: given,
        score: 0.03,
        confidence: 0.94,
        probabilities: asked.levels.map(({ label }, value) => ({
          value,
          label,
          probability: likely(value),
        })),
      }
    default:
      return asked satisfies never
  }
}

/** The probability of the option at an index. Rounded ones need not add up to 1. */
export function likely(index: number): number {
  return index === 0 ? 0.97 : 0.03
}
