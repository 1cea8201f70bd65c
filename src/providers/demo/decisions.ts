import * as z from 'zod'
import { type DemoAnswer, rejectRequest } from './answer.ts'

const question = z.looseObject({ type: z.string() })

const openAiRequest = z.looseObject({
  model: z.string(),
  input: z.unknown(),
  questions: z.array(question.extend({ name: z.string().nullish() })),
})

const typesafeRequest = z.looseObject({
  model: z.string(),
  state: z.unknown(),
  questions: z.record(z.string(), question),
})

type Question = z.infer<typeof question>

/**
 * Answers questions by the words that they share with the input, so that decisions can be tried without a vendor. One
 * word counts as one token.
 */
export function answerDecisions(body: unknown): DemoAnswer {
  const parsed = openAiRequest.safeParse(body)
  if (!parsed.success) return rejectRequest(parsed.error)
  const { model, input, questions } = parsed.data
  const known = listWords(input)
  const answers = questions.map(({ name = null, ...asked }) => ({
    ...answerOpenAi(asked, known),
    name,
  }))
  const tokens = known.length + listWords(questions).length
  const usage = { input_tokens: tokens, output_tokens: questions.length }
  const total = { total_tokens: tokens + questions.length }
  return { status: 200, json: { model, answers, usage: { ...usage, ...total } } }
}

/** Does the same in the form of TypeSafe. */
export function answerSystemOne(body: unknown): DemoAnswer {
  const parsed = typesafeRequest.safeParse(body)
  if (!parsed.success) return rejectRequest(parsed.error)
  const { model, state, questions } = parsed.data
  const known = listWords(state)
  const asked = Object.entries(questions)
  const answers = asked.map(([name, each]) => [name, answerTypeSafe(each, known)] as const)
  const tokens = known.length + listWords(questions).length
  const usage = { input_tokens: tokens, output_tokens: asked.length }
  return { status: 200, json: { model, answers: Object.fromEntries(answers), usage } }
}

function answerOpenAi({ type, ...asked }: Question, known: readonly string[]): object {
  switch (type) {
    case 'predicate':
      return { type, probability: shareWords(asked['instructions'], known) }
    case 'choice': {
      const values = listMembers(asked['choices'], 'value')
      const probabilities = weigh(toList(asked['choices']), known)
      const best = findBest(probabilities)
      return {
        type,
        choice: values[best],
        confidence: probabilities[best],
        probabilities: values.map((value, at) => ({ value, probability: probabilities[at] })),
      }
    }
    case 'score': {
      const labels = listMembers(asked['levels'], 'label')
      const probabilities = weigh(toList(asked['levels']), known)
      return {
        type,
        score: sumLevels(probabilities),
        confidence: probabilities[findBest(probabilities)],
        probabilities: labels.map((label, value) => ({
          value,
          label,
          probability: probabilities[value],
        })),
      }
    }
    default:
      return { type: 'refusal' }
  }
}

function answerTypeSafe({ type, ...asked }: Question, known: readonly string[]): object {
  const { criteria } = asked
  switch (type) {
    case 'noul':
      return { type, noul: shareWords([asked['instructions'], criteria], known) }
    case 'choice': {
      const choices = Object.entries(typeof criteria === 'object' ? (criteria ?? {}) : {})
      const probabilities = weigh(choices, known)
      const best = findBest(probabilities)
      const named = choices.map(([name], at) => [name, probabilities[at]] as const)
      return {
        type,
        choice: choices[best]?.[0],
        confidence: probabilities[best],
        probabilities: Object.fromEntries(named),
      }
    }
    case 'score': {
      const levels = toList(criteria)
      const probabilities = weigh(levels, known)
      return {
        type,
        score: sumLevels(probabilities),
        confidence: probabilities[findBest(probabilities)],
        legend: { ...levels },
        probabilities: { ...probabilities },
      }
    }
    default:
      return { type: 'refusal' }
  }
}

function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function listMembers(items: unknown, name: string): readonly unknown[] {
  return toList(items).map((item) => (item as Readonly<Record<string, unknown>> | null)?.[name])
}

function listWords(value: unknown): readonly string[] {
  return (
    JSON.stringify(value)
      ?.toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  )
}

/** The share of the words of a text that the input has, too. */
function shareWords(text: unknown, known: readonly string[]): number {
  const words = listWords(text)
  const input = new Set(known)
  return round(words.filter((word) => input.has(word)).length / Math.max(1, words.length))
}

/** Gives each option a probability by the words that it shares with the input. */
function weigh(options: readonly unknown[], known: readonly string[]): readonly number[] {
  const weights = options.map((option) => 0.1 + shareWords(option, known))
  const sum = weights.reduce((total, weight) => total + weight, 0)
  return weights.map((weight) => round(weight / sum))
}

function findBest(probabilities: readonly number[]): number {
  return probabilities.indexOf(Math.max(...probabilities))
}

function sumLevels(probabilities: readonly number[]): number {
  return round(probabilities.reduce((sum, probability, level) => sum + level * probability, 0))
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}
