import * as z from 'zod'
import { list } from './as-sent.ts'

/** What the gateway reads of a rerank request. All other fields stay behind. */
export const rerankRequest = z.object({
  model: z.string().min(1),
  query: z.string().min(1),
  // Judged by hand: there may be thousands, and each may have its own fields.
  documents: z.unknown(),
  top_n: z.int().positive().nullish(),
  // Voyage's name for it.
  top_k: z.int().positive().nullish(),
  return_documents: z.boolean().nullish(),
  rank_fields: z.union([z.string(), list(z.string())]).nullish(),
})

/** One rerank request, or the part of it that goes into one upstream call. */
export interface RerankCall {
  readonly model: string
  readonly query: string
  /** One text each, whatever the client has sent; at least one. */
  readonly documents: readonly string[]
  /** How many results are asked for, never more than there are documents; undefined for all. */
  readonly topN: number | undefined
  readonly returnDocuments: boolean
}

/** What a vendor makes of one document. */
export interface Ranking {
  /** The place of the document in the call. */
  readonly index: number
  /** Comparable within one answer only. */
  readonly score: number
}
