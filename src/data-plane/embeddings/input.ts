import {
  type EmbedCall,
  type EmbedHead,
  type EmbedInput,
  type EmbedPart,
  embedPart,
  embedRequest,
  type MixedItem,
} from '../../core/embeddings.ts'
import { invalid } from '../../core/errors.ts'
import { invalidField, schemaMessages } from '../../core/invalid-field.ts'
import { readJsonBody } from '../../wire/json/body.ts'
import type { TimeSlice } from '../../wire/time-slice.ts'

/** Eight batches of the largest size that vendors accept. */
export const maxItems = 16_384
const maxTokenId = 2 ** 31 - 1

/** Reads an embeddings request, or throws LM-1001 with the field at fault. */
export async function readEmbed(bytes: Uint8Array, slice: TimeSlice): Promise<EmbedCall> {
  const { value } = await readJsonBody(bytes, {
    names: ['model'],
    unique: ['model'],
    timeSlice: slice,
  })
  const parsed = embedRequest.safeParse(value, schemaMessages)
  if (!parsed.success) throw invalidField(parsed.error)
  const input = readInput(parsed.data.input)
  await slice.pause()
  return toCall(parsed.data, input)
}

/** Makes the call of a request whose input has been read. */
export function toCall(head: EmbedHead, input: EmbedInput): EmbedCall {
  const { model, encoding_format: encoding, dimensions, input_type: inputType } = head
  return {
    model,
    input,
    encoding: encoding ?? 'float',
    dimensions: dimensions ?? undefined,
    inputType: inputType ?? undefined,
  }
}

/** The type of the first element decides what the others must be. */
function readInput(input: unknown): EmbedInput {
  if (input === undefined) throw invalid('input is required', 'input')
  if (typeof input === 'string') return { shape: 'string', items: [requireText(input, 'input')] }
  if (!Array.isArray(input)) {
    throw invalid('input: must be a string, or an array of strings, token ids or parts', 'input')
  }
  if (input.length === 0) throw invalid('input: must not be empty', 'input')
  const [first] = input
  if (typeof first === 'number') return { shape: 'integers', items: [readIds(input, 'input')] }
  if (input.length > maxItems) {
    throw invalid(`input: must have at most ${maxItems} items; send several requests`, 'input')
  }
  if (Array.isArray(first) && typeof first[0] === 'number') {
    const items = input.map((item, index) => readIds(item, `input.${index}`))
    return { shape: 'integer arrays', items }
  }
  const items = input.map((item, index) => readItem(item, `input.${index}`))
  return items.every((item) => typeof item === 'string')
    ? { shape: 'strings', items }
    : { shape: 'parts', items }
}

function readIds(ids: unknown, path: string): Int32Array {
  if (!Array.isArray(ids)) throw invalid(`${path}: must be an array of token ids`, path)
  if (ids.length === 0) throw invalid(`${path}: must not be empty`, path)
  const read = new Int32Array(ids.length)
  for (let at = 0; at < ids.length; at++) {
    const id: unknown = ids[at]
    if (!isTokenId(id)) {
      throw invalid(`${path}.${at}: must be a token id, like the first one`, `${path}.${at}`)
    }
    read[at] = id
  }
  return read
}

/** Token ids have 31 bits at every vendor. Fast, because a body may hold millions of them. */
function isTokenId(id: unknown): id is number {
  return typeof id === 'number' && Math.trunc(id) === id && id >= 0 && id <= maxTokenId
}

function readItem(item: unknown, path: string): MixedItem {
  if (typeof item === 'string') return requireText(item, path)
  if (!Array.isArray(item)) {
    const hint = typeof item === 'object' ? '; put the parts of each item in an array' : ''
    throw invalid(`${path}: must be a string or an array of parts${hint}`, path)
  }
  if (item.length === 0) throw invalid(`${path}: must not be empty`, path)
  const parts = item.map((part, index) => readPart(part, `${path}.${index}`))
  const [only] = parts
  return only?.kind === 'text' && parts.length === 1 ? only.text : parts
}

function readPart(part: unknown, path: string): EmbedPart {
  const read = embedPart.safeParse(part, schemaMessages)
  if (!read.success) throw invalidField(read.error, path)
  const { data } = read
  if (data.type === 'text') return { kind: 'text', text: requireText(data.text, `${path}.text`) }
  const { image_url: image } = data
  return {
    kind: 'image',
    image: {
      ...(typeof image === 'string'
        ? { url: image, detail: undefined }
        : { url: image.url, detail: image.detail ?? undefined }),
      path: `${path}.image_url`,
    },
  }
}

function requireText(text: string, path: string): string {
  // Vendors differ on an empty text: an error, zeros, or one vector too few.
  if (text === '') throw invalid(`${path}: must not be an empty string`, path)
  return text
}
