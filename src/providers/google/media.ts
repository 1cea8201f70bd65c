import * as z from 'zod'
import { schemaMessages, untranslatableField } from '../../core/invalid-field.ts'
import { UntranslatableError } from '../../core/untranslatable-error.ts'
import { isDataUri, parseDataUri } from '../../wire/data-uri.ts'
import { isObject } from '../../wire/json.ts'
import {
  type CanonicalMessage,
  type CanonicalPart,
  type FilePart,
  type ImageUrlPart,
  type JsonObject,
  listParts,
} from '../canonical/messages.ts'
import { isGoogleFile, isHttpsUrl } from '../translation/media-uses.ts'
import { readSignature } from './signatures.ts'

/** A part of a content, with one of the fields that hold data. */
export interface RequestPart {
  readonly text?: string
  readonly inlineData?: { readonly mimeType: string; readonly data: string }
  readonly fileData?: { readonly mimeType?: string | undefined; readonly fileUri: string }
  readonly functionCall?: object
  readonly functionResponse?: object
  readonly thoughtSignature?: string | undefined
}

/**
 * The content of a message. `defaultMimeType` is the media type of a referenced file whose name
 * tells none; absent: none is sent.
 */
export function toContentParts(
  message: CanonicalMessage,
  defaultMimeType?: string,
): readonly RequestPart[] {
  return listParts(message)
    .filter((part) => part.type !== 'text' || part.text !== '')
    .map((part) => toContentPart(part, defaultMimeType))
}

/**
 * One part. An empty text must not come here: it counts as having no data, which is a 400. Throws
 * LM-1001 for what Gemini takes in no form.
 */
export function toContentPart(
  part: CanonicalPart,
  defaultMimeType: string | undefined,
): RequestPart {
  switch (part.type) {
    case 'text':
      return { text: part.text }
    case 'image':
      return inlineImage(part) ?? fileReference(part, defaultMimeType) ?? refuseImage(part)
    case 'audio':
      return { inlineData: { mimeType: `audio/${part.format}`, data: part.data } }
    case 'file':
      return inlineFile(part) ?? storedFile(part, defaultMimeType) ?? refuseFile(part)
    case 'other':
      throw new UntranslatableError(`${part.path}.type: unknown part type`, `${part.path}.type`)
    default:
      return part satisfies never
  }
}

/** An image that stands in the request as data. */
function inlineImage({ url }: ImageUrlPart): RequestPart | undefined {
  const image = parseDataUri(url)
  if (!image) return undefined
  const { mediaType, payload } = image
  // The alias is widespread, but not known upstream.
  const isJpeg = mediaType === '' || mediaType === 'image/jpg'
  return { inlineData: { mimeType: isJpeg ? 'image/jpeg' : mediaType, data: payload } }
}

function inlineFile({ data = '' }: FilePart): RequestPart | undefined {
  const file = parseDataUri(data)
  if (!file || file.mediaType === '') return undefined
  return { inlineData: { mimeType: file.mediaType, data: file.payload } }
}

/** A file that Google stores or fetches, by the id or in the place of the data that a file part has. */
function storedFile(
  { id, data, raw }: FilePart,
  defaultMimeType: string | undefined,
): RequestPart | undefined {
  const isReference = (text: string) => isGoogleFile(text) || isHttpsUrl(text)
  const address = [id, data].find((text) => text !== undefined && isReference(text))
  const told = isObject(raw['file']) ? raw['file'] : {}
  return address === undefined ? undefined : fileData(address, { told, defaultMimeType })
}

/** What an `image_url` may refer to; which addresses pass has been judged before. */
function fileReference(
  { url, raw }: ImageUrlPart,
  defaultMimeType: string | undefined,
): RequestPart | undefined {
  if (!url.startsWith('files/') && !/^(?:gs|https):\/\//i.test(url)) return undefined
  const told = isObject(raw['image_url']) ? raw['image_url'] : {}
  return fileData(url, { told, defaultMimeType })
}

interface FileFacts {
  /** The client's object around the address, which may name the media type. */
  readonly told: JsonObject
  readonly defaultMimeType: string | undefined
}

function fileData(address: string, { told, defaultMimeType }: FileFacts): RequestPart {
  const mimeType = statedMimeType(told) ?? mimeTypeByName(address) ?? defaultMimeType
  // Short names want the full address.
  const fileUri = address.startsWith('files/') ? filesApi + address : address
  return { fileData: { ...(mimeType !== undefined && { mimeType }), fileUri } }
}

const filesApi = 'https://generativelanguage.googleapis.com/v1beta/'

/** Clients that know what they refer to say so beside the address. */
function statedMimeType({ format, mime_type: mimeType }: JsonObject): string | undefined {
  return [format, mimeType].find((type): type is string => typeof type === 'string' && type !== '')
}

function mimeTypeByName(address: string): string | undefined {
  const [path = ''] = address.split(/[?#]/, 1)
  const [, extension = ''] = /\.(\w+)$/.exec(path) ?? []
  return mimeTypes.get(extension.toLowerCase())
}

const mimeTypes: ReadonlyMap<string, string> = new Map([
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['webp', 'image/webp'],
  ['gif', 'image/gif'],
  ['heic', 'image/heic'],
  ['heif', 'image/heif'],
  ['bmp', 'image/bmp'],
  ['pdf', 'application/pdf'],
  ['txt', 'text/plain'],
  ['md', 'text/plain'],
  ['wav', 'audio/wav'],
  ['ogg', 'audio/ogg'],
  ['mp3', 'audio/mp3'],
  ['flac', 'audio/flac'],
  ['m4a', 'audio/aac'],
  ['aac', 'audio/aac'],
  ['mp4', 'video/mp4'],
  ['mov', 'video/mov'],
  ['mpeg', 'video/mpeg'],
  ['mpg', 'video/mpeg'],
  ['webm', 'video/webm'],
  ['avi', 'video/avi'],
  ['wmv', 'video/wmv'],
  ['flv', 'video/x-flv'],
  ['3gp', 'video/3gpp'],
  ['3gpp', 'video/3gpp'],
])

/** Throws `UntranslatableError` for an image that can be sent in no way. */
function refuseImage({ url, path }: ImageUrlPart): never {
  const param = `${path}.image_url`
  throw isDataUri(url)
    ? new UntranslatableError(`${param}: must hold its data as base64`, param)
    : new UntranslatableError(
        `${param}: is neither a data URI nor a reference to a file of Google's`,
        param,
      )
}

function refuseFile({ path }: FilePart): never {
  const param = `${path}.file`
  const rule = "must hold a base64 data URI in file_data, or a reference to a file of Google's"
  throw new UntranslatableError(`${param}: ${rule}`, param)
}

const generatedImages = z.looseObject({
  images: z.array(z.looseObject({ image_url: z.looseObject({ url: z.string() }) })).nullish(),
})

/** The images of an assistant's earlier message, which a model that is to change them must see. */
export function toImageParts(raw: JsonObject, path: string): RequestPart[] {
  // Parsing with the schema costs time for every message, and few have an image.
  if (raw['images'] === undefined) return []
  const { data, error } = generatedImages.safeParse(raw, schemaMessages)
  if (error) throw untranslatableField(error, path)
  return (data.images ?? []).map((image, index) => {
    const param = `${path}.images.${index}.image_url`
    const file = parseDataUri(image.image_url.url)
    if (!file) throw new UntranslatableError(`${param}: must be a base64 data URI`, param)
    const inlineData = { mimeType: file.mediaType, data: file.payload }
    return { inlineData, thoughtSignature: readSignature(image) }
  })
}
