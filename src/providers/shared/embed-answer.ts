import * as z from 'zod'
import { type VectorValue, vectorValue } from '../../core/embeddings.ts'
import type { EmbedResult } from '../../core/provider.ts'
import { parsePromptCount } from '../../core/usage.ts'
import { isObject } from '../../wire/json.ts'
import { extractMessage } from './error-message.ts'
import { toVendorError } from './vendor-error.ts'

/** An answer that has been understood. */
export function toEmbedResult(vectors: readonly VectorValue[], tokens: unknown): EmbedResult {
  return { ok: true, vectors, tokens: parsePromptCount(tokens) }
}

/** An answer that is not what the API promises, with the vendor's own words where it has some. */
export function toEmbedFailure(body: unknown): EmbedResult {
  const detail = hasTokenVectors(body)
    ? 'it has a vector for each token; this model is not made for sentences'
    : 'it holds no embeddings'
  if (!isObject(body) || body['error'] === undefined) {
    return { ok: false, failure: { kind: 'malformed', detail } }
  }
  const says = `${detail}: ${extractMessage(body)}`
  return { ok: false, failure: { kind: 'malformed', detail: says, vendor: toVendorError(body) } }
}

const vectorList = z.array(vectorValue)

/** An answer that is nothing but a list of vectors. */
export function parseVectorList(body: unknown, tokens: unknown): EmbedResult {
  const parsed = vectorList.safeParse(body)
  if (parsed.success) return toEmbedResult(parsed.data, tokens)
  return toEmbedFailure(body)
}

/** True for vectors by token, as a server gives them whose model was made for chat. */
function hasTokenVectors(body: unknown): boolean {
  const { data, embeddings } = isObject(body) ? body : {}
  const [first] = [body, data, embeddings].find(Array.isArray) ?? []
  const vectors = isObject(first) ? first['embedding'] : first
  return Array.isArray(vectors) && vectors.length > 0 && vectorList.safeParse(vectors).success
}

/** A count in a header. */
export function parseCountHeader(value: string | undefined): number | undefined {
  return value !== undefined && /^\d{1,15}$/.test(value) ? Number(value) : undefined
}
