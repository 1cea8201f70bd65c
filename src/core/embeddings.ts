import * as z from 'zod'

/** What the gateway reads of an embeddings request. All other fields stay behind. */
export const embedRequest = z.object({
  model: z.string().min(1),
  // Judged by hand: it may hold millions of token ids.
  input: z.unknown(),
  encoding_format: z.enum(['float', 'base64']).nullish(),
  dimensions: z.int().positive().nullish(),
  // Only some kinds read it, and those know its values.
  input_type: z.unknown().optional(),
})

/** A part of an item, as the client writes it. */
export const embedPart = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({
    type: z.literal('image_url'),
    image_url: z.union([z.string(), z.object({ url: z.string(), detail: z.string().nullish() })]),
  }),
])

/** How vectors leave the gateway: as JSON numbers, or as little-endian float32 in base64. */
export type EncodingFormat = 'float' | 'base64'

/** One embeddings request, or the part of it that goes into one upstream call. */
export interface EmbedCall {
  readonly model: string
  readonly input: EmbedInput
  readonly encoding: EncodingFormat
  readonly dimensions: number | undefined
  readonly inputType: unknown
}

/** The shapes of `input`, told apart by `shape`; each entry of `items` gets one vector. */
export type EmbedInput = TextInput | TokenInput | MixedInput

export interface TextInput {
  readonly shape: 'string' | 'strings'
  readonly items: readonly string[]
}

export interface TokenInput {
  readonly shape: 'integers' | 'integer arrays'
  /** A request may hold millions of ids: so they take half the memory, and none of the heap. */
  readonly items: readonly Int32Array[]
}

/** Texts beside items that are made of parts. */
export interface MixedInput {
  readonly shape: 'parts'
  readonly items: readonly MixedItem[]
}

export type MixedItem = string | readonly EmbedPart[]

export type EmbedPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly image: EmbedImage }

export interface EmbedImage {
  /** A base64 data URI, once remote images have been fetched. */
  readonly url: string
  readonly detail: string | undefined
  /** The dotted path of the part, for error messages. */
  readonly path: string
}

export function isTokenInput(input: EmbedInput): input is TokenInput {
  return input.shape === 'integers' || input.shape === 'integer arrays'
}

/** Every image of an input, in order. */
export function* iterateImages(input: EmbedInput): Generator<EmbedImage> {
  if (input.shape !== 'parts') return
  for (const item of input.items) yield* listItemImages(item)
}

/** The images of one item. */
export function listItemImages(item: MixedItem): EmbedImage[] {
  if (typeof item === 'string') return []
  return item.flatMap((part) => (part.kind === 'image' ? part.image : []))
}

/** The text of an item that is made of text alone; undefined where there is an image. */
export function getItemText(item: MixedItem): string | undefined {
  if (typeof item === 'string') return item
  const texts = item.flatMap((part) => (part.kind === 'text' ? part.text : []))
  return texts.length === item.length ? texts.join(' ') : undefined
}

/** Every item as a list of parts, for vendors who want it so. */
export function toEmbedParts(item: MixedItem): readonly EmbedPart[] {
  return typeof item === 'string' ? [{ kind: 'text', text: item }] : item
}

/** The items from `start` to before `end`, in the same shape. */
export function sliceInput(input: EmbedInput, start: number, end: number): EmbedInput {
  switch (input.shape) {
    case 'string':
    case 'strings':
      return { shape: input.shape, items: input.items.slice(start, end) }
    case 'integers':
    case 'integer arrays':
      return { shape: input.shape, items: input.items.slice(start, end) }
    case 'parts':
      return { shape: 'parts', items: input.items.slice(start, end) }
    default:
      return input satisfies never
  }
}

/**
 * A vector as it stands in the parsed answer of a vendor. The numbers of every flat array have been
 * taken out before the parse, and in their place stands their ordinal; a string is base64.
 */
export const vectorValue = z.union([z.tuple([z.int()]), z.string()])

export type VectorValue = z.infer<typeof vectorValue>
