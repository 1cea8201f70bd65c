import * as z from 'zod'

/** The fields of an embeddings request that the gateway reads, except for `input`. Other fields are ignored. */
export const embedHead = z.object({
  model: z.string().min(1),
  encoding_format: z.enum(['float', 'base64']).nullish(),
  dimensions: z.int().positive().nullish(),
  // Read by some kinds only, which validate it themselves.
  input_type: z.unknown().optional(),
})

/** The same with `input`, which is validated without a schema: it may hold millions of token ids. */
export const embedRequest = embedHead.extend({ input: z.unknown() })

export type EmbedHead = z.infer<typeof embedHead>

/** The schema of one part of an input item. */
export const embedPart = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({
    type: z.literal('image_url'),
    image_url: z.union([z.string(), z.object({ url: z.string(), detail: z.string().nullish() })]),
  }),
])

/** The format of vectors in the answer: JSON numbers, or little-endian float32 in base64. */
export type EncodingFormat = 'float' | 'base64'

/** One embeddings request, or the batch of it that goes into one upstream call. */
export interface EmbedCall {
  readonly model: string
  readonly input: EmbedInput
  readonly encoding: EncodingFormat
  readonly dimensions: number | undefined
  /** What the texts are embedded for: the client's own value, or the one that applies at a link. */
  readonly inputType: unknown
  /** `inputType` is a word of the gateway's: it reaches a vendor only where the provider maps it. */
  readonly needsMapping?: boolean
}

/** The input, discriminated by `shape`. Each entry of `items` gets one vector. */
export type EmbedInput = TextInput | TokenInput | MixedInput

export interface TextInput {
  readonly shape: 'string' | 'strings'
  readonly items: readonly string[]
}

/** Texts in the JSON of the client, decoded only when something else than their bytes is needed. */
export class WrittenTexts implements TextInput {
  readonly shape: TextInput['shape']
  /** The value of `input`: a string, or an array of strings. */
  readonly json: Uint8Array
  /** The length of each text in UTF-8 bytes. */
  readonly sizes: readonly number[]
  #items: readonly string[] | undefined

  constructor(json: Uint8Array, sizes: readonly number[]) {
    this.shape = json[0] === quote ? 'string' : 'strings'
    this.json = json
    this.sizes = sizes
  }

  get items(): readonly string[] {
    this.#items ??= [JSON.parse(decoder.decode(this.json))].flat()
    return this.#items
  }
}

const quote = 0x22
const decoder = new TextDecoder()

export interface TokenInput {
  readonly shape: 'integers' | 'integer arrays'
  /** Typed arrays, because a request may hold millions of ids: half the memory, outside the heap. */
  readonly items: readonly Int32Array[]
}

/** Texts, and items that consist of parts. */
export interface MixedInput {
  readonly shape: 'parts'
  readonly items: readonly MixedItem[]
}

export type MixedItem = string | readonly EmbedPart[]

export type EmbedPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly image: EmbedImage }

export interface EmbedImage {
  /** A base64 data URI after remote images have been fetched. */
  readonly url: string
  readonly detail: string | undefined
  /** The dotted path of the part, for error messages. */
  readonly path: string
}

export function isTokenInput(input: EmbedInput): input is TokenInput {
  return input.shape === 'integers' || input.shape === 'integer arrays'
}

export function countItems(input: EmbedInput): number {
  return input instanceof WrittenTexts ? input.sizes.length : input.items.length
}

/** Iterates over the images of an input in order. */
export function* iterateImages(input: EmbedInput): Generator<EmbedImage> {
  if (input.shape !== 'parts') return
  for (const item of input.items) yield* listItemImages(item)
}

/** Lists the images of one item. */
export function listItemImages(item: MixedItem): EmbedImage[] {
  if (typeof item === 'string') return []
  return item.flatMap((part) => (part.kind === 'image' ? part.image : []))
}

/** Returns the text of an item that has only text; undefined when it has an image. */
export function getItemText(item: MixedItem): string | undefined {
  if (typeof item === 'string') return item
  const texts = item.flatMap((part) => (part.kind === 'text' ? part.text : []))
  return texts.length === item.length ? texts.join(' ') : undefined
}

/** Returns an item as a list of parts, for vendors that accept no plain text. */
export function toEmbedParts(item: MixedItem): readonly EmbedPart[] {
  return typeof item === 'string' ? [{ kind: 'text', text: item }] : item
}

/** Returns the items from `start` up to, but not including, `end`, in the same shape. */
export function sliceInput(input: EmbedInput, start: number, end: number): EmbedInput {
  if (start === 0 && end === countItems(input)) return input
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
 * The schema of a vector in a vendor's parsed answer. The scanner moves the numbers of every flat array
 * out of the JSON before it is parsed and leaves the array's ordinal in their place; a string is base64.
 */
export const vectorValue = z.union([z.tuple([z.int()]), z.string()])

export type VectorValue = z.infer<typeof vectorValue>
