import { invalid } from '../../../core/errors.ts'
import { isDataUri, parseDataUri } from '../../../wire/data-uri.ts'
import { type ImageUrlPart, type Message, type Part, partsOf } from '../openai/messages.ts'
import { isObject } from '../openai/usage.ts'

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
export function contentParts(message: Message, defaultMimeType?: string): readonly RequestPart[] {
  return partsOf(message)
    .filter((part) => part.type !== 'text' || part.text !== '')
    .map((part) => contentPart(part, defaultMimeType))
}

/** An empty text must not come here: it counts as having no data, which is a 400. */
function contentPart(part: Part, defaultMimeType: string | undefined): RequestPart {
  switch (part.type) {
    case 'text':
      return { text: part.text }
    case 'image':
      return inlineImage(part) ?? fileReference(part, defaultMimeType) ?? refuseImage(part)
    case 'audio':
      return { inlineData: { mimeType: `audio/${part.format}`, data: part.data } }
    case 'file': {
      const file = parseDataUri(part.data ?? '')
      if (!file || file.mediaType === '') {
        const param = `${part.path}.file`
        throw invalid(`${param}: must hold its content as a base64 data URI in file_data`, param)
      }
      return { inlineData: { mimeType: file.mediaType, data: file.payload } }
    }
    case 'other':
      throw invalid(`${part.path}.type: unknown part type`, `${part.path}.type`)
    default:
      return part satisfies never
  }
}

/** An image that stands in the request as data. */
export function inlineImage({ url }: ImageUrlPart): RequestPart | undefined {
  const image = parseDataUri(url)
  if (!image) return undefined
  const { mediaType, payload } = image
  // The alias is widespread, but not known upstream.
  const isJpeg = mediaType === '' || mediaType === 'image/jpg'
  return { inlineData: { mimeType: isJpeg ? 'image/jpeg' : mediaType, data: payload } }
}

const filesApi = 'https://generativelanguage.googleapis.com/v1beta/'

/** Objects of Cloud Storage and files of the Files API, whose short names want the full address. */
function fileReference(
  part: ImageUrlPart,
  defaultMimeType: string | undefined,
): RequestPart | undefined {
  const isShort = part.url.startsWith('files/')
  if (!isShort && !/^(?:gs|https):\/\//i.test(part.url)) return undefined
  const mimeType = toldMimeType(part) ?? mimeTypeByName(part.url) ?? defaultMimeType
  const fileUri = isShort ? filesApi + part.url : part.url
  return { fileData: { ...(mimeType !== undefined && { mimeType }), fileUri } }
}

/** Clients that know what they refer to say so beside the address. */
function toldMimeType({ raw }: ImageUrlPart): string | undefined {
  const image = isObject(raw['image_url']) ? raw['image_url'] : {}
  const told = [image['format'], image['mime_type']]
  return told.find((type): type is string => typeof type === 'string' && type !== '')
}

function mimeTypeByName(address: string): string | undefined {
  const [, extension = ''] = /\.(\w+)$/.exec(address.replace(/[?#].*$/, '')) ?? []
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

/** LM-1001 for an image that can be sent in no way. */
export function refuseImage({ url, path }: ImageUrlPart): never {
  const param = `${path}.image_url`
  throw isDataUri(url)
    ? invalid(`${param}: must hold its data as base64`, param)
    : invalid(`${param}: is neither a data URI nor a reference to a file of Google's`, param)
}
