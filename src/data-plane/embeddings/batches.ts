import { countItems, type EmbedCall, sliceInput } from '../../core/embeddings.ts'
import type { EmbedEndpoint } from '../../core/endpoints.ts'
import type { Model } from '../../core/provider.ts'
import { estimateItemTokens } from '../../tokens/index.ts'

/** The items of one upstream call. */
export interface Batch {
  readonly call: EmbedCall
  /** The index of the set that they belong to. */
  readonly set: number
}

/** Splits a request into batches within the limits of the link's upstream, in order. */
export function splitBatches(
  call: EmbedCall,
  { embed, maxBatchSize }: Model,
): readonly EmbedCall[] {
  // A route for embeddings has only links with an embed endpoint.
  const limits = (embed as EmbedEndpoint).getLimits(call.input)
  const { tokens: maxTokens = Number.POSITIVE_INFINITY } = limits
  // Some APIs have no form for several items.
  const maxItems = limits.items === 1 ? 1 : (maxBatchSize ?? limits.items)
  const count = countItems(call.input)
  const tokens = maxTokens === Number.POSITIVE_INFINITY ? [] : estimateItemTokens(call.input)
  const batches: EmbedCall[] = []
  let start = 0
  let sum = 0
  for (let index = 0; index <= count; index++) {
    const weight = tokens[index] ?? 0
    const isFull = index - start >= maxItems || sum + weight > maxTokens
    if (index === count || (isFull && index > start)) {
      batches.push({ ...call, input: sliceInput(call.input, start, index) })
      start = index
      sum = 0
    }
    sum += weight
  }
  return batches
}
