import * as z from 'zod'
import type { DemoAnswer } from './answer.ts'

const demoRequest = z.looseObject({
  model: z.string(),
  query: z.string(),
  documents: z.array(z.string()),
})

/**
 * Scores documents by the words that they share with the query, 0 for none and 1 for the same words,
 * so that rerank can be tried.
 */
export function demoRerank(body: unknown): DemoAnswer {
  const parsed = demoRequest.safeParse(body)
  if (!parsed.success) {
    const message = `the demo provider cannot read ${parsed.error.issues[0]?.path.join('.')}`
    return { status: 400, json: { error: { message, type: 'invalid_request_error' } } }
  }
  const { model, query, documents } = parsed.data
  const asked = countWords(query)
  const results = documents.map((text, index) => ({
    index,
    relevance_score: computeCosine(asked, countWords(text)),
  }))
  // In no order, and all of them: the gateway sees to both.
  return { status: 200, json: { model, results } }
}

type WordCounts = ReadonlyMap<string, number>

function countWords(text: string): WordCounts {
  const counts = new Map<string, number>()
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    counts.set(word, (counts.get(word) ?? 0) + 1)
  }
  return counts
}

/** How much two bags of words point in one direction. */
function computeCosine(a: WordCounts, b: WordCounts): number {
  let product = 0
  for (const [word, count] of a) product += count * (b.get(word) ?? 0)
  return product === 0 ? 0 : product / (getLength(a) * getLength(b))
}

function getLength(counts: WordCounts): number {
  return Math.hypot(...counts.values())
}
