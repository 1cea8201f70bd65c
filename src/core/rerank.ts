import * as z from 'zod'
import { list } from './as-sent.ts'

/** The fields of a rerank request that the gateway reads. Other fields are ignored. */
export const rerankRequest = z.object({
  model: z.string().min(1),
  query: z.string().min(1),
  // Validated without a schema: there may be thousands, each with fields of its own.
  documents: z.unknown(),
  top_n: z.int().positive().nullish(),
  // Voyage's name for top_n.
  top_k: z.int().positive().nullish(),
  return_documents: z.boolean().nullish(),
  rank_fields: z.union([z.string(), list(z.string())]).nullish(),
})

/** One rerank request, or the batch of it that goes into one upstream call. */
export interface RerankCall {
  readonly model: string
  readonly query: string
  /** The text of each document; at least one document. */
  readonly documents: readonly string[]
  /** The number of results requested, at most the number of documents; undefined for all. */
  readonly topN: number | undefined
  readonly returnDocuments: boolean
}

/** The vendor's score of one document. */
export interface Ranking {
  /** The index of the document in the call. */
  readonly index: number
  /** Comparable within one answer only. */
  readonly score: number
}
