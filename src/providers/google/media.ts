import * as z from 'zod'
import { schemaMessages, untranslatableField } from '../../core/invalid-field.ts'
import { UntranslatableError } from '../../core/untranslatable-error.ts'
import { isDataUri, parseDataUri } from '../../wire/data-uri.ts'
import { isObject, type JsonObject } from '../../wire/json/parse.ts'
import {
  type CanonicalMessage,
  type CanonicalPart,
  type FilePart,
  type ImageUrlPart,
  listParts,
} from '../canonical/messages.ts'
import { isGoogleFile, isHttpsUrl } from '../translation/media-uses.ts'
import { readSignature } from './signatures.ts'

/** A part of a content. Exactly one of its data fields is set. */
export interface RequestPart {
  readonly text?: string
  readonly inlineData?: { readonly mimeType: string; readonly data: string }
  readonly fileData?: { readonly mimeType?: string | undefined; readonly fileUri: string }
  readonly functionCall?: object
  readonly functionResponse?: object
  readonly thoughtSignature?: string | undefined
}

/**
 * The content of a message. `defaultMimeType` is the media type of a referenced file without a
 * known extension; undefined sends no type.
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
 * Translates one part. The caller must leave out empty texts: Gemini answers 400 to a part without
 * data. Throws `UntranslatableError` when Gemini has no form for the part.
 */
export function toContentPart(
  part: CanonicalPart,
  defaultMimeType: string | undefined,
): RequestPart {
  switch (part.type) {
    case 'text':
      return { text: part.text }
    case 'image':
      return toInlineImage(part) ?? toImageReference(part, defaultMimeType) ?? refuseImage(part)
    case 'audio':
      return { inlineData: { mimeType: `audio/${part.format}`, data: part.data } }
    case 'file':
      return toInlineFile(part) ?? toStoredFile(part, defaultMimeType) ?? refuseFile(part)
    case 'guarded':
    case 'other':
      throw new UntranslatableError(`${part.path}.type: unknown part type`, `${part.path}.type`)
    default:
      return part satisfies never
  }
}

/** An image whose data is in the request; undefined for an address. */
function toInlineImage({ url }: ImageUrlPart): RequestPart | undefined {
  const image = parseDataUri(url)
  if (!image) return undefined
  const { mediaType, payload } = image
  // Clients often send the alias `image/jpg`, which Gemini does not know.
  const isJpeg = mediaType === '' || mediaType === 'image/jpg'
  return { inlineData: { mimeType: isJpeg ? 'image/jpeg' : mediaType, data: payload } }
}

function toInlineFile({ data = '' }: FilePart): RequestPart | undefined {
  const file = parseDataUri(data)
  if (!file || file.mediaType === '') return undefined
  return { inlineData: { mimeType: file.mediaType, data: file.payload } }
}

/** A file that Google stores or fetches, referenced in `file_id` or in `file_data`. */
function toStoredFile(
  { member, id, data, raw }: FilePart,
  defaultMimeType: string | undefined,
): RequestPart | undefined {
  const isReference = (text: string) => isGoogleFile(text) || isHttpsUrl(text)
  const address = [id, data].find((text) => text !== undefined && isReference(text))
  const clientObject = isObject(raw[member]) ? raw[member] : {}
  return address === undefined ? undefined : toFileData(address, { clientObject, defaultMimeType })
}

/** An image that Google stores or fetches. Forbidden addresses were refused earlier. */
function toImageReference(
  { url, raw }: ImageUrlPart,
  defaultMimeType: string | undefined,
): RequestPart | undefined {
  if (!url.startsWith('files/') && !/^(?:gs|https):\/\//i.test(url)) return undefined
  const clientObject = isObject(raw['image_url']) ? raw['image_url'] : {}
  return toFileData(url, { clientObject, defaultMimeType })
}

interface FileFacts {
  /** The client's object around the address, which may state the media type. */
  readonly clientObject: JsonObject
  readonly defaultMimeType: string | undefined
}

function toFileData(address: string, { clientObject, defaultMimeType }: FileFacts): RequestPart {
  const mimeType = statedMimeType(clientObject) ?? guessMimeType(address) ?? defaultMimeType
  // The API expects the full address of a file, not its short name.
  const fileUri = address.startsWith('files/') ? filesApiUrl + address : address
  return { fileData: { ...(mimeType !== undefined && { mimeType }), fileUri } }
}

const filesApiUrl = 'https://generativelanguage.googleapis.com/v1beta/'

/** The media type that some clients state beside the address. */
function statedMimeType({ format, mime_type: mimeType }: JsonObject): string | undefined {
  return [format, mimeType].find((type): type is string => typeof type === 'string' && type !== '')
}

function guessMimeType(address: string): string | undefined {
  const [path = ''] = address.split(/[?#]/, 1)
  const [, extension = ''] = /\.(\w+)$/.exec(path) ?? []
  return mimeTypesByExtension.get(extension.toLowerCase())
}

/** Media types by file extension, in lower case. */
const mimeTypesByExtension: ReadonlyMap<string, string> = new Map([
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

/** Rejects an image that is neither base64 data nor a reference. */
function refuseImage({ url, path }: ImageUrlPart): never {
  const param = `${path}.image_url`
  throw isDataUri(url)
    ? new UntranslatableError(`${param}: must encode its data as base64`, param)
    : new UntranslatableError(
        `${param}: must be a base64 data URI or a Google file reference`,
        param,
      )
}

function refuseFile({ path }: FilePart): never {
  const param = `${path}.file`
  const rule = 'must have a base64 data URI in file_data, or a Google file reference'
  throw new UntranslatableError(`${param}: ${rule}`, param)
}

const generatedImages = z.looseObject({
  images: z.array(z.looseObject({ image_url: z.looseObject({ url: z.string() }) })).nullish(),
})

/** The images of an earlier assistant message, which a model needs in order to edit them. */
export function toImageParts(raw: JsonObject, path: string): RequestPart[] {
  // Skips the schema: it would run for every assistant message, and few have an image.
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
