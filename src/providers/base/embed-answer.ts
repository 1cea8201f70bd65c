import * as z from 'zod'
import { type VectorValue, vectorValue } from '../../core/embeddings.ts'
import type { EmbedResult } from '../../core/endpoints.ts'
import { parsePromptCount } from '../../core/usage.ts'
import { isObject } from '../../wire/json/parse.ts'
import { toShapeFailure } from './hidden-error.ts'

/** Returns the result for a parsed answer. */
export function toEmbedResult(vectors: readonly VectorValue[], tokens: unknown): EmbedResult {
  return { ok: true, vectors, tokens: parsePromptCount(tokens) }
}

/** Returns the failure for an answer of another shape, with the vendor's message if it has one. */
export function toEmbedFailure(body: unknown): EmbedResult {
  const detail = hasTokenVectors(body)
    ? 'the answer has a vector for each token, not for each item; use an embedding model'
    : 'the answer has no embeddings'
  return { ok: false, failure: toShapeFailure(body, detail) }
}

const vectorList = z.array(vectorValue)

/** Parses an answer that is a bare list of vectors. */
export function parseVectorList(body: unknown, tokens: unknown): EmbedResult {
  const parsed = vectorList.safeParse(body)
  if (parsed.success) return toEmbedResult(parsed.data, tokens)
  return toEmbedFailure(body)
}

/** True for one vector per token, as servers return for a chat model. */
function hasTokenVectors(body: unknown): boolean {
  const { data, embeddings } = isObject(body) ? body : {}
  const [first] = [body, data, embeddings].find(Array.isArray) ?? []
  const vectors = isObject(first) ? first['embedding'] : first
  return Array.isArray(vectors) && vectors.length > 0 && vectorList.safeParse(vectors).success
}

/** Parses a token count in a header. */
export function parseCountHeader(value: string | undefined): number | undefined {
  return value !== undefined && /^\d{1,15}$/.test(value) ? Number(value) : undefined
}
