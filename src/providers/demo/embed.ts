import * as z from 'zod'
import { type DemoAnswer, rejectRequest } from './answer.ts'

const demoRequest = z.looseObject({
  model: z.string(),
  input: z.union([
    z.string(),
    z.array(z.string()),
    z.array(z.number()),
    z.array(z.array(z.number())),
  ]),
  dimensions: z.int().positive().max(4096).nullish(),
})

const defaultDimensions = 256

/**
 * Embeds texts as bags of words: the same text always gets the same vector, and texts that share words
 * get similar vectors, so that search can be tried. One word counts as one token.
 */
export function answerEmbed(body: unknown): DemoAnswer {
  const parsed = demoRequest.safeParse(body)
  if (!parsed.success) return rejectRequest(parsed.error)
  const { model, input, dimensions } = parsed.data
  const items = listItems(input)
  const tokens = items.reduce((sum, words) => sum + words.length, 0)
  return {
    status: 200,
    json: {
      object: 'list',
      data: items.map((words, index) => ({
        object: 'embedding',
        index,
        embedding: embedWords(words, dimensions ?? defaultDimensions),
      })),
      model,
      usage: { prompt_tokens: tokens, total_tokens: tokens },
    },
  }
}

/** Lists the words of every item. A token id counts as a word. */
function listItems(input: z.infer<typeof demoRequest>['input']): string[][] {
  if (typeof input === 'string') return [listWords(input)]
  if (typeof input[0] === 'number') return [input.map(String)]
  return input.map((item) =>
    typeof item === 'string' ? listWords(item) : [item].flat().map(String),
  )
}

function listWords(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [text]
}

/** Returns the sum of the words' vectors, scaled to length 1. */
function embedWords(words: readonly string[], dimensions: number): number[] {
  const sum = new Float64Array(dimensions)
  for (const word of words) {
    let state = hash(word)
    for (let at = 0; at < dimensions; at++) {
      state = scramble(state)
      sum[at] = (sum[at] ?? 0) + state / 2 ** 31
    }
  }
  const length = Math.hypot(...sum)
  return Array.from(sum, (value) => Math.fround(value / length))
}

/** Hashes a word with FNV-1a over its UTF-16 code units. */
function hash(word: string): number {
  let value = 0x811c9dc5
  for (let at = 0; at < word.length; at++) {
    value = Math.imul(value ^ word.charCodeAt(at), 0x01000193)
  }
  return value
}

/** Returns the next state of a 32-bit xorshift generator, signed. State 0 would stay 0. */
function scramble(state: number): number {
  let next = state === 0 ? 1 : state
  next ^= next << 13
  next ^= next >>> 17
  next ^= next << 5
  return next
}
