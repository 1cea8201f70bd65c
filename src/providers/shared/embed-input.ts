import {
  type EmbedCall,
  type EmbedInput,
  getItemText,
  isTokenInput,
  type MixedInput,
  type MixedItem,
} from '../../core/embeddings.ts'
import type { BatchLimits } from '../../core/provider.ts'
import { formatIntegerArray } from '../../wire/integers.ts'
import { RawJson } from '../../wire/raw-json.ts'

/** How a vendor wants items with images, where all else is said in the OpenAI format. */
export interface MixedDialect {
  /** What one call takes, where it is less than without images. */
  readonly limits?: Partial<BatchLimits>
  /** Throws LM-1001 for what this vendor cannot embed. */
  readonly check?: (call: EmbedCall) => void
  /** The members of the body that stand for the input. */
  readonly members: (input: MixedInput) => object
}

/** An input without images, in the shape that the client gave it; for `jsonBody`. */
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

/** The texts of an input that has been checked to hold nothing else. */
export function listTexts(input: EmbedInput): readonly string[] {
  return isTokenInput(input) ? [] : input.items.map((item) => getItemText(item) ?? '')
}

/** The item of a batch that was cut to one; it has been checked to hold no token ids. */
export function getSingleItem(input: EmbedInput): MixedItem {
  const [item] = isTokenInput(input) ? [] : input.items
  return item ?? ''
}
