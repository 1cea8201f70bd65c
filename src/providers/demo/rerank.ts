import * as z from 'zod'
import { type DemoAnswer, rejectRequest } from './answer.ts'

const demoRequest = z.looseObject({
  model: z.string(),
  query: z.string(),
  documents: z.array(z.string()),
})

/**
 * Scores documents by the words that they share with the query: 0 for none, 1 for the same words. It
 * makes rerank testable without a vendor.
 */
export function answerRerank(body: unknown): DemoAnswer {
  const parsed = demoRequest.safeParse(body)
  if (!parsed.success) return rejectRequest(parsed.error)
  const { model, query, documents } = parsed.data
  const asked = countWords(query)
  const results = documents.map((text, index) => ({
    index,
    relevance_score: computeCosine(asked, countWords(text)),
  }))
  // All documents, unsorted: the gateway sorts and limits them.
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

/** Computes the cosine similarity of two bags of words. */
function computeCosine(a: WordCounts, b: WordCounts): number {
  let product = 0
  for (const [word, count] of a) product += count * (b.get(word) ?? 0)
  return product === 0 ? 0 : product / (getLength(a) * getLength(b))
}

function getLength(counts: WordCounts): number {
  return Math.hypot(...counts.values())
}
