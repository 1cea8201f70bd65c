import { type EmbedCall, sliceInput } from '../core/embeddings.ts'
import type { EmbedEndpoint } from '../core/endpoints.ts'
import { estimateItemTokens } from '../tokens/index.ts'

/** Splits a request into batches within the limits of the upstream, in order. */
export function splitBatches(call: EmbedCall, endpoint: EmbedEndpoint): readonly EmbedCall[] {
  const limits = endpoint.getLimits(call.input)
  const { items: maxItems, tokens: maxTokens = Number.POSITIVE_INFINITY } = limits
  const count = call.input.items.length
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
