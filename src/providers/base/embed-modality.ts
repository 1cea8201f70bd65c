import {
  type EmbedCall,
  getItemText,
  listItemImages,
  type MixedItem,
  toEmbedParts,
} from '../../core/embeddings.ts'
import { invalid } from '../../core/errors.ts'
import type { MixedDialect } from './embed-input.ts'

/** Throws LM-1001 unless every item is either text or one image: these vendors cannot combine both. */
export function checkSingleModality({ input }: EmbedCall): void {
  if (input.shape !== 'parts') return
  const mixed = input.items.some(
    (item) => getItemText(item) === undefined && toEmbedParts(item).length > 1,
  )
  if (mixed) throw invalid('input: this model embeds text or one image per item, not both', 'input')
}

/** Returns the text of such an item, or the data URI of its image. */
export function toTextOrImage(item: MixedItem): { text: string } | { image: string } {
  const [image] = listItemImages(item)
  return image ? { image: image.url } : { text: getItemText(item) ?? '' }
}

/** NVIDIA accepts the data URI of an image in place of a text. */
export const imagesAsTexts: MixedDialect = Object.freeze({
  check: checkSingleModality,
  members: (input) => ({ input: input.items.map(asText) }),
} satisfies MixedDialect)

/** vLLM embeds a chat conversation, one in each call. */
export const imagesInChat: MixedDialect = Object.freeze({
  limits: { items: 1 },
  members: (input) => ({
    messages: input.items.map((item) => ({
      role: 'user',
      content: toEmbedParts(item).map((part) =>
        part.kind === 'text'
          ? { type: 'text', text: part.text }
          : { type: 'image_url', image_url: { url: part.image.url } },
      ),
    })),
  }),
} satisfies MixedDialect)

function asText(item: MixedItem): string {
  const single = toTextOrImage(item)
  return 'image' in single ? single.image : single.text
}
