import {
  type EmbedCall,
  type EmbedInput,
  getItemText,
  isTokenInput,
  type MixedInput,
  type MixedItem,
} from '../../core/embeddings.ts'
import type { BatchLimits } from '../../core/endpoints.ts'
import { formatIntegerArray } from '../../wire/json/integers.ts'
import { RawJson } from '../../wire/json/raw.ts'

/** How a vendor of the OpenAI format expects items with images. */
export interface MixedDialect {
  /** The limits of one call when they are lower than without images. */
  readonly limits?: Partial<BatchLimits>
  /** Throws LM-1001 for input that this vendor cannot embed. */
  readonly check?: (call: EmbedCall) => void
  /** Builds the members of the body that carry the input. */
  readonly members: (input: MixedInput) => object
}

/** Returns an input without images in the client's own shape, for `encodeJsonBody`. */
export function toPlainInput(input: EmbedInput): unknown {
  switch (input.shape) {
    case 'string':
      return input.items[0]
    case 'strings':
      return input.items
    case 'integers':
      return input.items.map((ids) => new RawJson(formatIntegerArray(ids)))[0]
    case 'integer arrays':
      return new RawJson(`[${input.items.map(formatIntegerArray)}]`)
    case 'parts':
      return listTexts(input)
    default:
      return input satisfies never
  }
}

/** Lists the texts of an input. The caller has checked that it has nothing else. */
export function listTexts(input: EmbedInput): readonly string[] {
  return isTokenInput(input) ? [] : input.items.map((item) => getItemText(item) ?? '')
}

/** Returns the item of a batch of one. The caller has checked that it is not token ids. */
export function getSingleItem(input: EmbedInput): MixedItem {
  const [item] = isTokenInput(input) ? [] : input.items
  return item ?? ''
}
