import {
  type EmbedInput,
  isTokenInput,
  listItemImages,
  type MixedItem,
  toEmbedParts,
  WrittenTexts,
} from '../core/embeddings.ts'
import type { TokenEncoding } from '../core/ports.ts'
import { countUtf8Bytes } from '../wire/utf8.ts'
import type { TokenCountInput } from './bpe.ts'
import { estimateImageTokens, estimateTextTokens } from './heuristic.ts'

/** Estimates each item: text by its bytes, one token for each id, images by their detail. */
export function estimateItemTokens(input: EmbedInput): number[] {
  if (input instanceof WrittenTexts) return input.sizes.map(estimateTextTokens)
  return isTokenInput(input)
    ? input.items.map(({ length }) => length)
    : input.items.map(estimateMixedTokens)
}

/** Estimates all items together. */
export function estimateEmbedTokens(input: EmbedInput): number {
  return estimateItemTokens(input).reduce((sum, tokens) => sum + tokens, 0)
}

/** Collects the texts of some inputs, without counting them. Ids and images count as in an estimate. */
export function toEmbedCountInput(
  encoding: TokenEncoding,
  inputs: readonly EmbedInput[],
): TokenCountInput {
  const prompt: string[] = []
  let overhead = 0
  for (const input of inputs) {
    if (isTokenInput(input)) {
      overhead += estimateEmbedTokens(input)
      continue
    }
    for (const part of input.items.flatMap(toEmbedParts)) {
      if (part.kind === 'text') prompt.push(part.text)
      else overhead += estimateImageTokens(part.image)
    }
  }
  return { encoding, output: '', prompt, overhead }
}

function estimateMixedTokens(item: MixedItem): number {
  if (typeof item === 'string') return estimateTextTokens(countUtf8Bytes(item))
  const texts = toEmbedParts(item).map((part) =>
    part.kind === 'text' ? countUtf8Bytes(part.text) : 0,
  )
  const bytes = texts.reduce((sum, length) => sum + length, 0)
  return listItemImages(item).reduce(
    (sum, image) => sum + estimateImageTokens(image),
    estimateTextTokens(bytes),
  )
}
