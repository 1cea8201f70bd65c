import { type EmbedCall, sliceInput } from '../core/embeddings.ts'
import type { EmbedEndpoint } from '../core/provider.ts'
import { itemTokens } from '../tokens/index.ts'

/** Cuts a request into calls that keep to the limits of the upstream. The order stays. */
export function batchesOf(call: EmbedCall, endpoint: EmbedEndpoint): readonly EmbedCall[] {
  const { items: mostItems, tokens: mostTokens = Number.POSITIVE_INFINITY } = endpoint.getLimits(
    call.input,
  )
  const count = call.input.items.length
  const tokens = mostTokens === Number.POSITIVE_INFINITY ? [] : itemTokens(call.input)
  const batches: EmbedCall[] = []
  let start = 0
  let sum = 0
  for (let index = 0; index <= count; index++) {
    const weight = tokens[index] ?? 0
    const isFull = index - start >= mostItems || sum + weight > mostTokens
    if (index === count || (isFull && index > start)) {
      batches.push({ ...call, input: sliceInput(call.input, start, index) })
      start = index
      sum = 0
    }
    sum += weight
  }
  return batches
}
